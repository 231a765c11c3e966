/* tests/unit/server/test_edge_threads.c - the edge over a socket while the store is slow, and an end by force. */
#include "tests/unit/server/edge_fixture.h"

TEST(edge__reads_no_more_while_the_store_is_busy_and_goes_on_later)
{
    enum { CLIENTS = 8, PUTS = 64 };
    _Static_assert(CLIENTS * PUTS > 3 * SHARE, "far more than the store would take");
    int fds[CLIENTS + 1];
    server_start();
    make_type();
    store_hold();
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = client();
        for (unsigned k = 0; k < PUTS; k++)
            say(fds[i], PUT);
    }
    fds[CLIENTS] = client();
    say(fds[CLIENTS], PING PING);
    /* Who reads on would refuse writes, for the queue is full, and answer the pings. */
    assert_true(is_silent(fds, CLIENTS + 1, 300));
    wrap_release();
    hear(fds[CLIENTS], 2, "pong");
    for (unsigned i = 0; i < CLIENTS; i++)
        hear(fds[i], PUTS, "OK");
    for (unsigned i = 0; i <= CLIENTS; i++)
        close(fds[i]);
    server_stop();
}

TEST(edge__answers_little_though_too_much_waits_for_slow_clients)
{
    enum { LONG = LIMIT_ANSWER_SMALL + 1 };
    static char text[LONG + 100];
    server_start();
    make_type();
    int fd = client();
    int head =
        snprintf(text, sizeof text,
                 "POST /bytes/put/long HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", LONG);
    memset(text + head, 'x', LONG);
    say(fd, text);
    hear(fd, 1, "OK");
    atomic_fetch_add(&server.edge->answer_bytes, LIMIT_ANSWERS_BUDGET + 1);
    say(fd, PING);
    hear(fd, 1, "pong");
    say(fd, "GET /bytes/get/1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear(fd, 1, "abc");
    say(fd, PUT);
    hear(fd, 1, "OK");
    say(fd, GET_LONG);
    hear_status(fd, "HTTP/1.1 503 ");
    atomic_fetch_sub(&server.edge->answer_bytes, LIMIT_ANSWERS_BUDGET + 1);
    fd = client();
    say(fd, GET_LONG);
    hear_status(fd, STATUS_200);
    server_stop();
}

static void *join(void *deadline_ms)
{
    edge_join(server.edge, *(unsigned *)deadline_ms);
    return NULL;
}

TEST(edge__closes_by_force_what_is_open_at_the_deadline)
{
    int begun, waiting, idle;
    server_start();
    make_type();
    begun = client();
    say(begun, PING PUT_HEAD "ab");
    hear(begun, 1, "pong");
    waiting = client();
    say(waiting, PING PING "GET /pi");
    hear(waiting, 2, "pong");
    idle = client();
    say(idle, PING);
    hear(idle, 1, "pong");
    edge_drain(server.edge);
    hear_the_end(idle);
    edge_join(server.edge, 0);
    hear_the_end(begun);
    hear_the_end(waiting);
    server_free();
}

TEST(edge__ends_by_force_once_the_writes_in_flight_are_done)
{
    unsigned deadline_ms = 0;
    pthread_t joiner;
    server_start();
    make_type();
    store_hold();
    int fd = client();
    say(fd, PUT PUT PUT);
    pthread_mutex_lock(&wrap.lock);
    while (!wrap.held)
        pthread_cond_wait(&wrap.changed, &wrap.lock);
    pthread_mutex_unlock(&wrap.lock);
    edge_drain(server.edge);
    assert_int_equal(pthread_create(&joiner, NULL, join, &deadline_ms), 0);
    hear_the_end(fd); /* unanswered: nobody was told that they are stored */
    wrap_release();
    pthread_join(joiner, NULL);
    server_free();
}

TEST_MAIN()
