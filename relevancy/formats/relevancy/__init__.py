"""Our own format, `relevancy/1`: cases, books and scorers as files that suit version control."""
