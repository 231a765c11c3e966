/* server/handlers/root.c - what this is and where to go from here. */
#include "server/handlers/handlers.h"

void root_handle(struct request *req)
{
    answer_json(req, SLICE("{\"name\":\"avrod\",\"version\":\"" AVROD_VERSION "\",\"links\":{"
                           "\"schemas\":\"/schemas\",\"ping\":\"/ping\",\"healthz\":\"/healthz\","
                           "\"readyz\":\"/readyz\",\"metrics\":\"/metrics\"}}\n"));
}
