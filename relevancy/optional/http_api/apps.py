from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class HttpApiConfig(hooks.OptionalApp):
    name = "relevancy.optional.http_api"
    verbose_name = "HTTP APIs"
