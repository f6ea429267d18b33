/* What client.py is, without an interpreter to start: the protocol is described there.
 *
 * Compiled at installation with PYTHON and CLIENT, the interpreter and client.py, and with BOUND, the user's own values
 * of the variables that say where hooks, trust and the engine are: the agent's values may come from a project. It knows
 * only the plain case: an engine that listens and answers. In any other it becomes client.py, which gets the same
 * payload on stdin. It tells no release, because it works with every engine that speaks this version of the protocol.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

enum { VERSION = 1, REQUEST = 40, ANSWER = 28, ANSWERED = 0, WORKING = 1, HEARD = 2000 };
enum { PAUSE = 100, SILENCE = 10000 }; /* milliseconds without a byte of the payload */
enum { BROKEN = -1, OVERDUE = -2, SILENT = -3 };
static const size_t LARGEST = 32u * 1024 * 1024, LARGEST_ENVIRONMENT = 4u * 1024 * 1024;

extern char **environ;

struct bytes {
    char *at;
    size_t size;
};

static const char *const bound[][2] = {BOUND{NULL, NULL}}; /* name, value; NULL: unset */

static long long begun; /* milliseconds */
static int left_open;   /* stdin has not reached its end, and nothing more is read of it */

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int write_all(int fd, const char *at, size_t size) {
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

/* These events are held back by exit code 2 and a reason. */
static _Noreturn void block(const char *event) {
    static const char *const blocking[] = {"pretool",    "beforetool", "beforeshell",  "beforemcp",
                                           "beforeread", "pre_",       "tool.execute", "permission"};
    for (size_t i = 0; i < sizeof blocking / sizeof *blocking; i++)
        if (!strncasecmp(event, blocking[i], strlen(blocking[i]))) _exit(2);
    _exit(1);
}

/* The safest end where nothing else can be done. */
static _Noreturn void give_up(const char *event) {
    fprintf(stderr, "hookline could not decide: %s\n", strerror(errno));
    block(event);
}

/* The package was uninstalled, but the agent's settings still name this program. */
static _Noreturn void report_uninstalled(char **arguments) {
    fprintf(stderr, UNINSTALLED "\n", arguments[1], arguments[0]);
    block(arguments[2]);
}

static int nameless_file(void) {
#ifdef __linux__
    int fd = memfd_create("payload", 0);
    if (fd >= 0) return fd;
#endif
    char name[] = "/tmp/hookline-XXXXXX";
    int file = mkstemp(name);
    if (file >= 0) unlink(name);
    return file;
}

/* What was not read of stdin yet is put behind what was: client.py refuses what is too large, not we. */
static _Noreturn void become_python(char **arguments, struct bytes payload, const char *option) {
    char spent[40], more[65536];
    ssize_t n;
    if (access(PYTHON, X_OK) || access(CLIENT, R_OK)) report_uninstalled(arguments);
    int file = nameless_file();
    if (file < 0 || write_all(file, payload.at, payload.size)) give_up(arguments[2]);
    for (size_t left = left_open || payload.size > LARGEST ? 0 : LARGEST + 1 - payload.size;
         left && (n = read(0, more, left < sizeof more ? left : sizeof more)) != 0; left -= (size_t)n) {
        if (n < 0 && errno == EINTR) n = 0;
        if (n < 0 || write_all(file, more, (size_t)n)) give_up(arguments[2]);
    }
    if (lseek(file, 0, SEEK_SET) < 0 || dup2(file, 0) < 0) give_up(arguments[2]);
    snprintf(spent, sizeof spent, "--spent=%lld", now() - begun);
    execl(PYTHON, PYTHON, "-I", "-S", CLIENT, spent, option, arguments[1], arguments[2], (char *)NULL);
    give_up(arguments[2]);
}

/* Whether the payload is a whole JSON object, as far as its brackets tell. */
static int is_whole(struct bytes payload) {
    size_t at = 0, depth = 0, size = payload.size;
    const char *text = payload.at;
    int quoted = 0;
    while (at < size && text[at] != '{') at++;
    for (; at < size; at++) {
        char c = text[at];
        if (quoted && c == '\\') at++;
        else if (c == '"') quoted = !quoted;
        else if (!quoted && (c == '{' || c == '[')) depth++;
        else if (!quoted && (c == '}' || c == ']') && depth && !--depth) break;
    }
    while (++at < size)
        if (!strchr(" \t\r\n", text[at])) return 0;
    return at == size && !quoted && size;
}

/* Some agents leave stdin open: the payload is complete if it is a whole object, or if nothing more comes. */
static int is_over(struct bytes payload) {
    for (int waited = 0; waited < SILENCE; waited += PAUSE) {
        struct pollfd waiting = {0, POLLIN, 0};
        if (poll(&waiting, 1, PAUSE) != 0) return 0;
        if (is_whole(payload)) return 1;
    }
    return 1;
}

static int read_stdin(struct bytes *payload) {
    size_t room = 65536;
    payload->at = malloc(room);
    while (payload->at && payload->size <= LARGEST) {
        if (is_over(*payload)) {
            left_open = 1;
            return 0;
        }
        if (payload->size == room) {
            char *larger = realloc(payload->at, room *= 4);
            if (!larger) return -1;
            payload->at = larger;
        }
        ssize_t n = read(0, payload->at + payload->size, room - payload->size);
        if (n == 0) return 0;
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) payload->size += (size_t)n;
    }
    return -1;
}

/* The directory where the engine listens, if it is this user's alone; then the socket's path in it. */
static int socket_path(char *path, size_t size) {
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct stat status;
    int n = -1;
    if (runtime && *runtime == '/') n = snprintf(path, size, "%s/hookline", runtime);
    else if (state && *state == '/') n = snprintf(path, size, "%s/hookline/run", state);
    else if (home && *home == '/') n = snprintf(path, size, "%s/.local/state/hookline/run", home);
    if (n < 0 || (size_t)n + sizeof "/engine.sock" > size) return -1;
    if (lstat(path, &status) || (status.st_mode & 0170077) != 0040000 || status.st_uid != geteuid()) return -1;
    memcpy(path + n, "/engine.sock", sizeof "/engine.sock");
    return 0;
}

static int connected(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct timeval patience = {HEARD / 1000, 0};
    int fd;
    if (socket_path(name.sun_path, sizeof name.sun_path)) return -1;
    if ((fd = socket(AF_UNIX, SOCK_STREAM, 0)) < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return connect(fd, (struct sockaddr *)&name, sizeof name) ? -1 : fd;
}

static void put_number(unsigned char *at, uint32_t number) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(number >> (24 - 8 * i));
}

static uint32_t number_at(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static struct bytes environment(void) {
    struct bytes all = {NULL, 0};
    for (char **each = environ; *each; each++) all.size += strlen(*each) + 1;
    char *to = all.at = malloc(all.size + 1);
    for (char **each = environ; to && *each; each++) to = stpcpy(to, *each) + 1;
    if (all.size) all.size--;
    return all;
}

struct request {
    unsigned char head[REQUEST];
    char cwd[16384];
    struct iovec pieces[7];
};

/* Before connecting: the engine answers in one go if the whole request is there when it accepts. */
static int prepared(struct request *request, char **arguments, struct bytes payload) {
    char *cwd = request->cwd;
    struct bytes all = environment();
    if (!getcwd(cwd, sizeof request->cwd)) *cwd = 0;
    if (!all.at || all.size > LARGEST_ENVIRONMENT - 65536) return -1;
    struct bytes parts[] = {{"", 0}, {arguments[1], strlen(arguments[1])}, {arguments[2], strlen(arguments[2])},
                            {cwd, strlen(cwd)}, all, payload};
    memcpy(request->head, "HOOKLINE", 8);
    put_number(request->head + 8, VERSION);
    request->pieces[0] = (struct iovec){request->head, sizeof request->head};
    for (int i = 0; i < 6; i++) {
        put_number(request->head + 16 + 4 * i, (uint32_t)parts[i].size);
        request->pieces[i + 1] = (struct iovec){parts[i].at, parts[i].size};
    }
    return 0;
}

static int sent(int fd, struct request *request) {
    struct iovec *pieces = request->pieces;
    put_number(request->head + 12, (uint32_t)(now() - begun));
    ssize_t n = writev(fd, pieces, 7);
    for (int i = 0; i < 7; i++) {
        size_t done = n < 0 ? 0 : (size_t)n < pieces[i].iov_len ? (size_t)n : pieces[i].iov_len;
        if (n < 0 || write_all(fd, (char *)pieces[i].iov_base + done, pieces[i].iov_len - done)) return -1;
        n -= (ssize_t)done;
    }
    return 0;
}

/* 0, or -1 if the engine went away or the time is over. */
static int received(int fd, void *to, size_t size, long long until) {
    char *at = to;
    while (size) {
        struct pollfd waiting = {fd, POLLIN, 0};
        long long left = until - now();
        if (left <= 0 || (poll(&waiting, 1, left > 1000000000 ? 1000000000 : (int)left) < 0 && errno != EINTR)) return -1;
        ssize_t n = recv(fd, at, size, MSG_DONTWAIT);
        if (n == 0) return -1;
        if (n < 0 && errno != EAGAIN && errno != EINTR) return -1;
        if (n > 0) at += n, size -= (size_t)n;
    }
    return 0;
}

/* Prints the answer and returns the exit code, or why there is none. */
static int answer(int fd) {
    unsigned char head[ANSWER];
    long long until = now() + HEARD;
    int at_work = 0;
    for (;;) {
        if (received(fd, head, sizeof head, until)) return now() < until ? BROKEN : at_work ? OVERDUE : SILENT;
        uint32_t status = number_at(head + 12), number = number_at(head + 16);
        size_t out = number_at(head + 20), err = number_at(head + 24);
        if (memcmp(head, "HOOKLINE", 8) || number_at(head + 8) != VERSION) return -1;
        if (status == WORKING) {
            at_work = 1;
            until = now() + number;
            continue;
        }
        char *text = status == ANSWERED ? malloc(out + err + 1) : NULL;
        if (!text || received(fd, text, out + err, until)) return -1;
        write_all(1, text, out);
        write_all(2, text + out, err);
        return (int)(number & 255);
    }
}

/* Each is unset first, because an environment may have a name twice. */
static int bind_variables(void) {
    for (size_t i = 0; bound[i][0]; i++)
        if (unsetenv(bound[i][0]) || (bound[i][1] && setenv(bound[i][0], bound[i][1], 1))) return -1;
    return 0;
}

int main(int count, char **arguments) {
    static struct request request;
    struct bytes payload = {NULL, 0};
    begun = now();
    if (count != 3) {
        fprintf(stderr, "usage: %s AGENT EVENT\n", arguments[0]);
        return 1;
    }
    if (bind_variables()) give_up(arguments[2]);
    signal(SIGPIPE, SIG_IGN);
    int fd = read_stdin(&payload) || prepared(&request, arguments, payload) ? -1 : connected();
    int code = fd < 0 || sent(fd, &request) ? -1 : answer(fd);
    if (code >= 0) _exit(code);
    if (fd >= 0) close(fd);
    signal(SIGPIPE, SIG_DFL);
    become_python(arguments, payload, code == SILENT ? "--direct" : code == OVERDUE ? "--overdue" : "--");
}
