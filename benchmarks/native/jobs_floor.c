// jobs_floor LIST FOLDER
//
// Downloads small files with the promises of a durable service and as little else as possible: each line of LIST is a URL and the
// name of its file. 64 jobs are under way at a time. A job is in a log before it begins; its file is synced, renamed, and reported
// as finished in the log, and its SHA-256 is computed. Every write to the log is synced, with the records of all jobs that need it
// then, as in a group commit. A service that keeps these promises cannot cost less than this.

#define _GNU_SOURCE
#include "loop.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { AT_A_TIME = 64, LARGEST = 1 << 20, RECORD = 4096, BATCH = 1000, NAME = 256 };

struct job {
    char url[1024], name[NAME], part[NAME];
    int file;
    size_t size;
    char bytes[LARGEST];
    unsigned char digest[EVP_MAX_MD_SIZE];
    CURL *easy;
    struct job *next;
};

static int folder, journal, finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
// The jobs whose bytes are written, and those that are done.
static struct job *complete, *done;

static void record(int count) {
    static char pages[RECORD * BATCH];
    if (write(journal, pages, (size_t)count * RECORD) != (ssize_t)count * RECORD || fdatasync(journal) != 0)
        fail("the log");
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    struct job *job = context;
    if (job->size + size * count > LARGEST) return 0;
    memcpy(job->bytes + job->size, bytes, size * count);
    job->size += size * count;
    return size * count;
}

// On a thread of its own: all jobs that are complete, in one round.
static void *finish(void *context) {
    (void)context;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!complete) pthread_cond_wait(&arrived, &lock);
        struct job *round = complete, *last = NULL;
        complete = NULL;
        pthread_mutex_unlock(&lock);
        int count = 0;
        for (struct job *job = round; job; last = job, job = job->next, count++) {
            unsigned int length;
            EVP_Digest(job->bytes, job->size, job->digest, &length, EVP_sha256(), NULL);
            if (pwrite(job->file, job->bytes, job->size, 0) != (ssize_t)job->size) fail("write");
        }
        if (syncfs(folder) != 0) fail("syncfs");
        record(count);
        for (struct job *job = round; job; job = job->next) {
            if (renameat2(folder, job->part, folder, job->name, RENAME_NOREPLACE) != 0) fail("rename");
            close(job->file);
        }
        if (fsync(folder) != 0) fail("fsync");
        record(count);
        pthread_mutex_lock(&lock);
        last->next = done;
        done = round;
        pthread_mutex_unlock(&lock);
        eventfd_write(finished, 1);
    }
}

static int begin(struct job *job, FILE *list, CURLM *multi) {
    static int number = 0;
    if (fscanf(list, "%1023s %255s", job->url, job->name) != 2) return 0;
    snprintf(job->part, NAME, ".part-%d", number++);
    job->size = 0;
    job->file = openat(folder, job->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (job->file < 0) fail(job->part);
    curl_easy_setopt(job->easy, CURLOPT_URL, job->url);
    curl_easy_setopt(job->easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(job->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(job->easy, CURLOPT_WRITEDATA, job);
    curl_easy_setopt(job->easy, CURLOPT_PRIVATE, job);
    curl_multi_add_handle(multi, job->easy);
    return 1;
}

static void take_completed(CURLM *multi) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->data.result != CURLE_OK) {
            fprintf(stderr, "jobs_floor: %s\n", curl_easy_strerror(message->data.result));
            exit(1);
        }
        struct job *job;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
        curl_multi_remove_handle(multi, job->easy);
        pthread_mutex_lock(&lock);
        job->next = complete;
        complete = job;
        pthread_cond_signal(&arrived);
        pthread_mutex_unlock(&lock);
    }
}

static struct job *take_done(void) {
    eventfd_t ignored;
    eventfd_read(finished, &ignored);
    pthread_mutex_lock(&lock);
    struct job *jobs = done;
    done = NULL;
    pthread_mutex_unlock(&lock);
    return jobs;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    FILE *list = fopen(arguments[1], "r");
    folder = open(arguments[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    journal = openat(folder, ".log", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (!list || folder < 0 || journal < 0) fail(arguments[2]);
    int lines = 0;
    for (int character; (character = getc(list)) != EOF;) lines += character == '\n';
    rewind(list);
    // The jobs are accepted before the first one begins, in batches.
    for (int left = lines; left > 0; left -= BATCH) record(left < BATCH ? left : BATCH);
    CURLM *multi = make_multi();
    finished = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = finished};
    epoll_ctl(poller, EPOLL_CTL_ADD, finished, &event);
    pthread_t thread;
    pthread_create(&thread, NULL, finish, NULL);
    int under_way = 0;
    for (int index = 0; index < AT_A_TIME; index++) {
        struct job *job = malloc(sizeof *job);
        job->easy = curl_easy_init();
        under_way += begin(job, list, multi);
    }
    while (under_way) {
        turn(multi, finished);
        take_completed(multi);
        for (struct job *job = take_done(), *next; job; job = next) {
            next = job->next;
            if (!begin(job, list, multi)) under_way--;
        }
    }
    unlinkat(folder, ".log", 0);
    return 0;
}
