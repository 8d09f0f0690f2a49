from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class SingleSignOnConfig(hooks.OptionalApp):
    name = "relevancy.optional.single_sign_on"
    verbose_name = "Single sign-on"
    guides_for = hooks.Audience.ADMINISTRATORS
