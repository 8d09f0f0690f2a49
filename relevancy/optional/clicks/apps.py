from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class ClicksConfig(hooks.OptionalApp):
    name = "relevancy.optional.clicks"
    verbose_name = "Search logs and clicks"
