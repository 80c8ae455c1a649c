// watchers PORT (COUNT WANTED REQUEST-FILE)...
//
// Opens COUNT connections to the port of this machine for each triple, and sends the request over each. When an answer
// without the text WANTED has arrived, the request is sent again, unless the answer is a stream (text/event-stream).
//
// Prints "open" when every request is sent, and "found SECONDS" (CLOCK_MONOTONIC) for each connection on which the text
// arrived. Ends at the end of its input, with 1 when a connection was closed before.

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 4096, EVENTS = 512 };

struct kind {
    const char *wanted;
    char request[4096];
    size_t length;
};

struct connection {
    int socket;
    const struct kind *kind;
    int is_found, is_stream;
    size_t kept;
    char bytes[KEPT + 1];  // the last bytes that arrived
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void send_request(const struct connection *it) {
    if (send(it->socket, it->kind->request, it->kind->length, MSG_NOSIGNAL) != (ssize_t)it->kind->length) fail("send");
}

static int connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0) fail("socket");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return descriptor;
}

static void read_request(struct kind *kind, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    kind->length = fread(kind->request, 1, sizeof kind->request, file);
    fclose(file);
}

static void note(struct connection *it) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    it->is_found = 1;
    printf("found %lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
}

static void receive(struct connection *it) {
    if (it->kept > KEPT / 2) {
        memmove(it->bytes, it->bytes + it->kept - KEPT / 4, KEPT / 4);
        it->kept = KEPT / 4;
    }
    ssize_t count = recv(it->socket, it->bytes + it->kept, KEPT - it->kept, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        fprintf(stderr, "watchers: a connection was closed\n");
        exit(1);
    }
    it->kept += (size_t)count;
    it->bytes[it->kept] = 0;
    if (strstr(it->bytes, "text/event-stream")) it->is_stream = 1;
    if (it->is_found) {
        it->kept = 0;
    } else if (strstr(it->bytes, it->kind->wanted)) {
        note(it);
    } else if (!it->is_stream && strstr(it->bytes, "\r\n\r\n")) {
        // A long poll ended without the change.
        it->kept = 0;
        send_request(it);
    }
}

static struct connection *open_all(int port, char **triple, int epoll) {
    int count = atoi(triple[0]);
    struct kind *kind = calloc(1, sizeof *kind);
    struct connection *all = calloc((size_t)count, sizeof *all);
    if (!kind || !all) fail("calloc");
    kind->wanted = triple[1];
    read_request(kind, triple[2]);
    for (int index = 0; index < count; index++) {
        struct connection *it = &all[index];
        *it = (struct connection){.socket = connect_to(port), .kind = kind};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = it};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, it->socket, &event) != 0) fail("epoll_ctl");
        send_request(it);
    }
    return all;
}

int main(int count, char **arguments) {
    if (count < 5 || (count - 2) % 3 != 0) return 64;
    int epoll = epoll_create1(0);
    struct epoll_event input = {.events = EPOLLIN | EPOLLHUP, .data.ptr = NULL};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) fail("epoll_ctl");
    for (int index = 2; index < count; index += 3) open_all(atoi(arguments[1]), arguments + index, epoll);
    puts("open");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int index = 0; index < ready; index++) {
            if (!events[index].data.ptr) return 0;
            receive(events[index].data.ptr);
        }
        fflush(stdout);
    }
}
