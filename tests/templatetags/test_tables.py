from relevancy.templatetags.tables import number_rows


def test_number_rows_are_escaped() -> None:
    assert number_rows([]) == ""
    assert number_rows([("<i>\n“a”", ["+1.5", "<b>"]), ("b", ["–"])]) == (
        '<tr><th scope="row">&lt;i&gt;\n“a”</th><td class="number">+1.5</td><td class="number">&lt;b&gt;</td></tr>\n'
        '<tr><th scope="row">b</th><td class="number">–</td></tr>\n'
    )
