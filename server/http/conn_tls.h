/* server/http/conn_tls.h - TLS as the transport of a connection: what stands in place of recv and send where conn->secure is set. */
#ifndef SERVER_HTTP_CONN_TLS_H
#define SERVER_HTTP_CONN_TLS_H

#include <sys/types.h>

#include "server/http/conn.h"

/* In place of reading: shakes hands as far as it can, then fills the room with up to some records. Says what it finds out in the
 * connection, as receiving in plain does. Who speaks HTTP without TLS is answered so (400). */
size_t conn_tls_receive(struct conn *, uint8_t *to, size_t room);
/* As send(2); of the bytes a record is taken at most, and no part of one. */
ssize_t conn_tls_send(struct conn *, const uint8_t *from, size_t bytes);
/* The same of slices that stand one behind the other, but for the first `skip` bytes. */
ssize_t conn_tls_send_pieces(struct conn *, const struct slice *parts, unsigned n, size_t skip);

/* The client is in the middle of a handshake or of a record. */
bool conn_tls_in_middle(const struct conn *);
/* Nothing can be told it: the handshake is not over. */
bool conn_tls_is_mute(const struct conn *);
/* Tell the client that this was all. False: the socket takes no more now; call again once it does. */
bool conn_tls_end(struct conn *);
void conn_tls_free(struct conn *);

#endif
