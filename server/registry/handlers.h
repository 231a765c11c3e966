/* server/registry/handlers.h - the functions that routes.def names for the registry's API, each described beside its
 * row. */
#ifndef SERVER_REGISTRY_HANDLERS_H
#define SERVER_REGISTRY_HANDLERS_H

#include "server/handler.h"

/* call.c: the begin of all of them */
bool registry_begin(struct request *);
/* subjects.c */
void registry_subjects_handle(struct request *);
void registry_versions_handle(struct request *);
void registry_types_handle(struct request *);
void registry_contexts_handle(struct request *);
/* versions.c */
void registry_version_handle(struct request *);
void registry_version_schema_handle(struct request *);
void registry_referenced_by_handle(struct request *);
/* schemas.c */
void registry_schema_handle(struct request *);
void registry_schema_text_handle(struct request *);
void registry_schema_subjects_handle(struct request *);
void registry_schema_versions_handle(struct request *);
/* GET /schemas is the types' too: does this one mean the registry's versions? */
bool registry_is_asked_for_schemas(const struct request *);
void registry_schemas_handle(struct request *);
/* lookup.c */
void registry_lookup_handle(struct request *);
/* take.c */
void registry_register_handle(struct request *);
void registry_compatibility_handle(struct request *);
/* remove.c */
bool registry_delete_begin(struct request *); /* of both */
void registry_version_delete_handle(struct request *);
void registry_subject_delete_handle(struct request *);
/* settings.c; of a subject, or for all */
void registry_config_handle(struct request *);
void registry_config_put_handle(struct request *);
void registry_config_delete_handle(struct request *);
void registry_mode_handle(struct request *);
void registry_mode_put_handle(struct request *);
void registry_mode_delete_handle(struct request *);

#endif
