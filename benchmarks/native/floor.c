// floor sync|no-sync URL FILE
//
// Downloads one file with libcurl and as little else as possible: one epoll loop around curl_multi_socket_action, and
// writes of 512 KiB. With `sync`, one fdatasync at the end. A download service cannot cost less than this.

#include "loop.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WRITE_SIZE = 512 << 10 };

struct file {
    int descriptor;
    size_t filled;
    char bytes[WRITE_SIZE];
};

static struct file file;
static void flush(void) {
    for (size_t done = 0; done < file.filled;) {
        ssize_t count = write(file.descriptor, file.bytes + done, file.filled - done);
        if (count < 0) fail("write");
        done += (size_t)count;
    }
    file.filled = 0;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    (void)context;
    size_t total = size * count;
    for (size_t taken = 0; taken < total;) {
        size_t part = total - taken < WRITE_SIZE - file.filled ? total - taken : WRITE_SIZE - file.filled;
        memcpy(file.bytes + file.filled, bytes + taken, part);
        file.filled += part;
        taken += part;
        if (file.filled == WRITE_SIZE) flush();
    }
    return total;
}

static void check_outcome(CURLM *multi) {
    int left;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    if (!message || message->data.result != CURLE_OK) {
        fprintf(stderr, "floor: %s\n", message ? curl_easy_strerror(message->data.result) : "no outcome");
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    file.descriptor = open(arguments[3], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.descriptor < 0) fail(arguments[3]);
    CURLM *multi = make_multi();
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, arguments[2]);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)WRITE_SIZE);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_multi_add_handle(multi, easy);
    int running = 1;
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    while (running) running = turn(multi, -1);
    check_outcome(multi);
    flush();
    if (strcmp(arguments[1], "sync") == 0 && fdatasync(file.descriptor) != 0) fail("fdatasync");
    if (close(file.descriptor) != 0) fail("close");
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    return 0;
}
