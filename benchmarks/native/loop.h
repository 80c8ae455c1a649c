// The loop of a libcurl multi handle: one epoll instance around curl_multi_socket_action.

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

static int poller = -1;
static long timeout = -1;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int follow_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context, (void)known;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) != 0 && epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) != 0)
        fail("epoll_ctl");
    return 0;
}

static int follow_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi, (void)context;
    timeout = milliseconds;
    return 0;
}

static CURLM *make_multi(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    poller = epoll_create1(EPOLL_CLOEXEC);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, follow_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, follow_timer);
    return multi;
}

static int flags(const struct epoll_event *event) {
    return (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) | (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
        | (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

// Waits for events once and handles them. Returns the number of transfers that still run. An event of `other` ends the wait only.
static int turn(CURLM *multi, int other) {
    struct epoll_event events[64];
    int running = 0;
    int count = epoll_wait(poller, events, 64, (int)timeout);
    if (count == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (int index = 0; index < count; index++)
        if (events[index].data.fd != other)
            curl_multi_socket_action(multi, events[index].data.fd, flags(&events[index]), &running);
    return running;
}
