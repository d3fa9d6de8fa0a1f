"""Streams of threads: local to each, for all, and cleared."""

import threading

import mlx.core as mx
import pytest


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
def test_local_streams(device):
    local = mx.new_thread_local_stream(device)
    assert isinstance(local, mx.ThreadLocalStream) and local.device == device
    assert local == local and local != mx.new_thread_local_stream(device) and local != 3
    assert repr(local).startswith("ThreadLocalStream(Device(") and {local: 1}[local] == 1

    def own_stream():
        with mx.stream(local) as entered:
            assert mx.default_stream(device) == entered
            assert (mx.array(1) + 1).item() == 2
        return entered

    before = mx.default_stream(device)
    mine = own_stream()
    assert own_stream() == mine and in_thread(own_stream) != mine
    assert mx.default_stream(device) == before
    assert mx.add(mx.array(1), 2, stream=local).item() == 3
    assert in_thread(lambda: mx.add(mx.array(1), 2, stream=local).item()) == 3
    mx.synchronize(local)
    with pytest.raises(TypeError):
        mx.set_default_stream(local)


def test_streams_for_all_threads():
    for stream in (mx.new_thread_unsafe_stream(mx.cpu), mx.new_stream(mx.cpu)):
        assert stream.device == mx.cpu and stream != mx.default_stream(mx.cpu)
        assert in_thread(lambda s=stream: mx.add(mx.array(1), 2, stream=s).item()) == 3


def test_cleared_streams():
    def clear_own():
        stream, local = mx.new_stream(mx.cpu), mx.new_thread_local_stream(mx.cpu)
        computed = mx.add(mx.array(1), 2, stream=stream)
        mx.async_eval(computed)
        pending = mx.add(mx.array(1), 2, stream=stream)
        first = mx.add(mx.array(1), 2, stream=local)
        mx.eval(first)
        mx.clear_streams()
        assert computed.item() == 3  # what ran is there
        assert mx.add(mx.array(2), 2, stream=local).item() == 4  # of a new stream
        return stream, pending

    kept = mx.new_stream(mx.cpu)
    stream, pending = in_thread(clear_own)
    with pytest.raises(RuntimeError, match="There is no stream"):
        mx.eval(pending)
    with pytest.raises(RuntimeError, match="There is no stream"):
        mx.eval(mx.add(mx.array(1), 2, stream=stream))
    with pytest.raises(ValueError, match="There is no stream"):
        mx.set_default_stream(stream)
    assert mx.add(mx.array(1), 2, stream=kept).item() == 3  # another thread's


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])
def test_default_streams_stay(device):
    before = mx.default_stream(mx.cpu), mx.default_stream(mx.gpu)
    mine, other = mx.new_stream(device), mx.new_stream(device)
    with mx.stream(mine):
        mx.clear_streams()
        assert (mx.array(1) + 1).item() == 2
        with pytest.raises(RuntimeError, match="There is no stream"):
            mx.eval(mx.add(mx.array(1), 2, stream=other))
    mx.clear_streams()
    with pytest.raises(RuntimeError, match="There is no stream"):
        mx.eval(mx.add(mx.array(1), 2, stream=mine))
    assert (mx.default_stream(mx.cpu), mx.default_stream(mx.gpu)) == before
    assert (mx.array(1) + 1).item() == 2
    in_thread(mx.clear_streams)
    mx.clear_streams()
    assert mx.add(mx.array(1), 2, stream=mx.cpu).item() == 3
