"""Draws learning curves, for the training examples."""

from dataclasses import dataclass
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent.parent / "demo_output"


@dataclass
class Curve:
    """The values of a curve, one for each epoch or every so many steps."""

    label: str
    colour: str
    values: list[float]


def draw_curves(curves: list[Curve], below: str, path: Path) -> None:
    """Draws each curve between its own extremes, which are written above it. Needs Pillow."""
    from PIL import Image, ImageDraw

    width, height, margin = 640, 400, 40
    picture = Image.new("RGB", (width, height), "white")
    canvas = ImageDraw.Draw(picture)
    canvas.rectangle((margin, margin, width - margin, height - margin), outline="black")
    for line, curve in enumerate(curves):
        low, high = min(curve.values), max(curve.values)
        text = f"{curve.label}: {low:.3f} to {high:.3f}"
        canvas.text((margin, 8 + 14 * line), text, fill=curve.colour)
        across = (width - 2 * margin) / max(1, len(curve.values) - 1)
        up = (height - 2 * margin) / ((high - low) or 1)
        points = [
            (margin + i * across, height - margin - (value - low) * up)
            for i, value in enumerate(curve.values)
        ]
        canvas.line(points, fill=curve.colour, width=2)
    canvas.text((margin, height - 30), below, fill="black")
    path.parent.mkdir(exist_ok=True)
    picture.save(path)
