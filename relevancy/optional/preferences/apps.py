from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class PreferencesConfig(hooks.OptionalApp):
    name = "relevancy.optional.preferences"
    verbose_name = "Preference tests"
