from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class SecondFactorConfig(hooks.OptionalApp):
    name = "relevancy.optional.second_factor"
    verbose_name = "Second factor"
    guides_for = hooks.Audience.ADMINISTRATORS
