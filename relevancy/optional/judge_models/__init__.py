"""Judge models: language models that rate documents. Their answers stand apart until an editor lets them count."""
