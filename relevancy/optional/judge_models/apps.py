from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class JudgeModelsConfig(hooks.OptionalApp):
    name = "relevancy.optional.judge_models"
    verbose_name = "Judge models"
    requires = ("agreement",)
