#ifndef C_EMBEDDED_FILES_H
#define C_EMBEDDED_FILES_H

#include <stddef.h>

/// A file of the repository that is part of the program, unchanged.
typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t count;
} EmbeddedFile;

/// The files of the dashboard, in Sources/API/Dashboard.
const EmbeddedFile *embedded_dashboard_files(size_t *count);

/// clients/javascript/fetchd.js, the client for browsers.
EmbeddedFile embedded_client_module(void);

/// openapi.yaml, the description of the API.
EmbeddedFile embedded_api_description(void);

#endif
