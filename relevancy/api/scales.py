"""Rating scales as they are returned."""

from typing import Annotated

from pydantic import Field

# Not a tuple: many generators of clients do not read `prefixItems`.
ScaleStep = Annotated[list[float | str], Field(min_length=2, max_length=2)]
Scale = Annotated[
    list[ScaleStep],
    Field(
        examples=[[[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]],
        description="The grades with their labels, ascending.",
    ),
]
