from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class ProductionConfig(hooks.OptionalApp):
    name = "relevancy.optional.production"
    verbose_name = "Production"
