/* libmicrohttpd, plus typed stand-ins for its variadic functions, which Swift cannot call.
   They also let the C compiler check every callback's type, so that no Swift code casts a function to an integer. */

#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <microhttpd.h>

/* Every callback gets the same context. `numbers` ends with MHD_OPTION_END and holds only options that are numbers. */
struct mhd_callbacks {
    void *context;
    MHD_AcceptPolicyCallback accept;
    MHD_NotifyConnectionCallback connection;
    void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
    size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text);
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
};

static inline struct MHD_Daemon *
mhd_start(unsigned int flags, MHD_socket listening, struct mhd_callbacks callbacks, struct MHD_OptionItem *numbers)
{
    return MHD_start_daemon(
        flags, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
        MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks.request_line, callbacks.context,
        MHD_OPTION_UNESCAPE_CALLBACK, callbacks.unescape, callbacks.context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
        MHD_OPTION_ARRAY, numbers,
        MHD_OPTION_END);
}

static inline MHD_socket
mhd_connection_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *
mhd_connection_client_address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline void *
mhd_connection_context(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Bytes from the method to the end of the empty line; 0 while the head is still arriving. */
static inline size_t
mhd_connection_head_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/* Hides the arguments of a target from the library, which would store each of them in the memory of the connection: with
   200 arguments that memory is too small, and the client gets no answer (0.9.75). The handler reads the arguments from its
   own copy of the target. The target lies in the buffer of the connection, which may be written; the library divides it
   after this callback, and reads the arguments up to a NUL. */
static inline void
mhd_hide_arguments(const char *target)
{
    const char *mark = strchr(target, '?');
    if (mark)
        ((char *)mark)[1] = '\0';
}

/* Ends the library's connection of an upgraded socket. The handler of the upgrade has a duplicate of the socket. */
static inline enum MHD_Result
mhd_end_upgraded(struct MHD_UpgradeResponseHandle *upgraded)
{
    return MHD_upgrade_action(upgraded, MHD_UPGRADE_ACTION_CLOSE);
}

/* Makes a response of unknown size end with its connection instead of being chunked. */
static inline enum MHD_Result
mhd_response_end_with_connection(struct MHD_Response *response)
{
    return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

#endif
