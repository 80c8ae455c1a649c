/// libcrypto's digests and HMAC, and its comparison in constant time, as they are.

#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#endif
