/// libcrypto's digests, HMAC, ciphers and random numbers, and its comparison in constant time, as they are.

#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#endif
