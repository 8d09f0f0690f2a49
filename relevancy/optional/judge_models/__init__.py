"""Judge models: language models that rate documents. Their answers stand apart until an editor accepts them as ratings."""
