from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class QueryClassesConfig(hooks.OptionalApp):
    name = "relevancy.optional.query_classes"
    verbose_name = "Query classes"
