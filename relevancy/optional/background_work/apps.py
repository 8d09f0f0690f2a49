from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class BackgroundWorkConfig(hooks.OptionalApp):
    name = "relevancy.optional.background_work"
    verbose_name = "Background work"
    guides_for = hooks.Audience.ADMINISTRATORS
