from relevancy.templatetags.tables import number_cells


def test_number_cells_are_escaped() -> None:
    assert number_cells(["+1.5", "<b>"]) == '<td class="number">+1.5</td><td class="number">&lt;b&gt;</td>'
