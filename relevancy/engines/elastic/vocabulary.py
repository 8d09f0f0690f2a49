"""Names of the query language, which an editor completes in a template."""

_WORDS = """
query match match_phrase match_phrase_prefix match_bool_prefix match_all multi_match combined_fields query_string
simple_query_string term terms range exists prefix wildcard fuzzy regexp ids bool must should filter must_not dis_max
queries constant_score boosting positive negative negative_boost function_score functions field_value_factor
script_score random_score gauss exp linear weight score_mode boost_mode max_boost rescore window_size rescore_query
query_weight rescore_query_weight nested path has_child has_parent knn query_vector num_candidates k rrf
rank_window_size retriever fields type best_fields most_fields cross_fields phrase phrase_prefix bool_prefix operator
minimum_should_match tie_breaker fuzziness prefix_length max_expansions slop analyzer boost lenient
auto_generate_synonyms_phrase_query default_operator gte lte gt lt sort collapse track_total_hits min_score
post_filter highlight script source params id _source timeout
"""
ELASTICSEARCH_NAMES = tuple(_WORDS.split())
OPENSEARCH_NAMES = (*ELASTICSEARCH_NAMES, "hybrid", "neural", "query_text", "model_id", "search_pipeline")
