"""Trains a small network on data that is divided among processes.

    mlx.launch -n 2 examples/train_in_processes.py

But for rounding, the result is the same for each number of processes that divides the batch.
"""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

BATCH, STEPS = 64, 150


def main() -> None:
    group = mx.distributed.init()  # a group of one process if this was started without mlx.launch
    rank, count = group.rank(), group.size()

    mx.random.seed(0)  # the same network and the same data everywhere
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
    points = mx.random.uniform(-1, 1, (BATCH, 2))
    wanted = mx.sin(3 * points[:, :1]) * points[:, 1:]

    # Each process has its part of the batch.
    mine = slice(rank * BATCH // count, (rank + 1) * BATCH // count)

    def loss(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.mse_loss(model(x), y)

    step = nn.value_and_grad(model, loss)
    optimizer = optim.Adam(learning_rate=0.02)
    for number in range(STEPS + 1):
        value, gradients = step(points[mine], wanted[mine])
        optimizer.update(model, nn.average_gradients(gradients))
        mean = mx.distributed.all_sum(value) / count
        mx.eval(model.parameters(), optimizer.state, mean)
        if rank == 0 and number % 50 == 0:
            print(f"step {number:3}: loss {mean.item():.3f}")


if __name__ == "__main__":
    main()
