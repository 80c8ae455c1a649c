/// libcrypto's digests, HMAC, ciphers and random numbers, and its comparison in constant time, as they are. Of its older functions
/// the digests, because only their state can be stored.

#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#endif
