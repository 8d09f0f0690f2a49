from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class FeaturesConfig(hooks.OptionalApp):
    name = "relevancy.optional.features"
    verbose_name = "Features"
