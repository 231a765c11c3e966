/* server/handlers/handlers.h - the functions that routes.def names, each described beside its row. */
#ifndef SERVER_HANDLERS_HANDLERS_H
#define SERVER_HANDLERS_HANDLERS_H

#include "server/handler.h"

/* health.c */
void ping_handle(struct request *);
void healthz_handle(struct request *);
void readyz_handle(struct request *);
void trace_handle(struct request *); /* in place of any route */
/* metrics.c */
void metrics_handle(struct request *);
/* backup.c */
void backup_handle(struct request *);
/* root.c */
void root_handle(struct request *);
/* putschema.c */
bool putschema_begin(struct request *);
void putschema_handle(struct request *);
/* getschema.c */
void getschema_handle(struct request *);
/* types.c */
void schemas_handle(struct request *);
/* delschema.c */
bool delschema_begin(struct request *);
void delschema_handle(struct request *);
/* record_get.c */
void record_get_handle(struct request *);
/* record_put.c */
bool record_put_begin(struct request *);
void record_put_handle(struct request *);   /* verb path: 200 always */
void resource_put_handle(struct request *); /* resource path: 201 when it created */
bool record_delete_begin(struct request *);
void record_delete_handle(struct request *);
/* range_delete.c */
bool range_delete_begin(struct request *);
void range_delete_handle(struct request *);
/* scan.c */
void scan_handle(struct request *);
/* txn.c */
bool txn_begin(struct request *);
void txn_handle(struct request *);
/* field_put.c */
bool field_put_begin(struct request *);
void field_put_handle(struct request *);
/* record_patch.c */
bool record_patch_begin(struct request *);
void record_patch_handle(struct request *);
/* path_select.c */
bool path_select_begin(struct request *);
void path_select_handle(struct request *);
/* path_change.c */
bool path_update_begin(struct request *);
bool path_insert_begin(struct request *);
bool path_insertall_begin(struct request *);
bool path_delete_begin(struct request *);
bool path_clear_begin(struct request *);
void path_change_handle(struct request *);

#endif
