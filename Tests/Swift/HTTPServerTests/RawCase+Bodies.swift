/// Bodies, and several requests on one connection.
extension RawCase {
    private static let chunked = "Transfer-Encoding: chunked"

    static let framings = [
        post("length", ["Content-Length: 3"], "abc", [200], .stays),
        post("length 0", ["Content-Length: 0"], "", [200], .stays),
        post("neither length nor chunks", [], "", [200], .stays),
        post("leading zeros", ["Content-Length: 0003"], "abc", [200], .stays),
        post("same length twice", ["Content-Length: 3", "Content-Length: 3"], "abc", [400], .closes),
        post("two lengths", ["Content-Length: 3", "Content-Length: 4"], "abcd", [400], .closes),
        post("larger than the limit", ["Content-Length: 2000000"], "", [413], .closes),
        post("length and chunks", ["Content-Length: 3", chunked], "0\r\n\r\n", [400], .closes),
        post("chunks and length", [chunked, "Content-Length: 5"], "0\r\n\r\n", [400], .closes),
        post("chunks twice", [chunked, chunked], "0\r\n\r\n", [501], .closes),
        post("chunks and another coding", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n", [501], .closes),
        post("coding in another case", ["Transfer-Encoding: Chunked"], "0\r\n\r\n", [200], .closes),
        post("unknown coding", ["Transfer-Encoding: xchunked"], "0\r\n\r\n", [501], .closes),
        post("coding with a NUL", ["Transfer-Encoding: chunked\0"], "0\r\n\r\n", [400], .closes),
        RawCase("chunks in HTTP/1.0", "POST / HTTP/1.0\r\n\(chunked)\r\n\r\n0\r\n\r\n", [501], .closes),
        post("chunks", [chunked], "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", [200], .closes),
        post("chunk sizes with zeros", [chunked], "0003\r\nabc\r\n000\r\n\r\n", [200], .closes),
        post("chunk extension", [chunked], "3;x=y\r\nabc\r\n0;z\r\n\r\n", [200], .closes),
        post("trailers", [chunked], "3\r\nabc\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n", [200], .closes),
        // The library accepts these. Readers that do not may see another request in what follows.
        post("bare LF after a chunk size", [chunked], "3\nabc\r\n0\r\n\r\n", [200], .closes),
        post("bare LF after a chunk extension", [chunked], "3;x=y\nabc\r\n0\r\n\r\n", [200], .closes),
        post("bare LF after a chunk", [chunked], "3\r\nabc\n0\r\n\r\n", [200], .closes),
        post("bare LF after the last chunk", [chunked], "3\r\nabc\r\n0\n\r\n", [200], .closes),
        post("bare LF everywhere", [chunked], "3\nabc\n0\n\n", [200], .closes),
        post("chunk extension of 20,000 bytes", [chunked], "3;" + many("x", 20_000), [], .refusedByLibrary),
        post("chunk larger than the limit", [chunked], "200000\r\n", [], .ends),
        post("chunk size that is no number", [chunked], "xyz\r\nabc\r\n0\r\n\r\n", [], .refusedByLibrary),
        post("negative chunk size", [chunked], "-3\r\nabc\r\n0\r\n\r\n", [], .refusedByLibrary),
        post("chunk size with a prefix", [chunked], "0x3\r\nabc\r\n0\r\n\r\n", [], .refusedByLibrary),
        post("empty chunk size", [chunked], "\r\nabc\r\n0\r\n\r\n", [], .refusedByLibrary),
        post("chunk longer than its size", [chunked], "2\r\nabc\r\n0\r\n\r\n", [], .refusedByLibrary),
        post("chunk size beyond 64 bits", [chunked], "fffffffffffffffff\r\nabc\r\n", [], .refusedByLibrary),
        post("chunk size of 64 bits", [chunked], "ffffffffffffffff\r\nabc\r\n", [], .ends),
        post("half of a body", ["Content-Length: 3"], "ab", [], .ends),
        post("half of the chunks", [chunked], "3\r\nabc\r\n", [], .ends),
        post("body in a GET", ["Content-Length: 3", "X-HTTP-Method-Override: GET"], "abc", [200], .stays),
        post(
            "Expect without a body", ["Expect: 100-continue", "Content-Length: 0", "Connection: close"], "",
            [100, 200],
            .ends),
        post("unknown expectation", ["Expect: 200-ok", "Content-Length: 3"], "abc", [200], .stays),
    ]

    private static let get = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let bad = "GET /2 HTTP/1.1\r\nHost : a\r\n\r\n"

    static let sequences = [
        RawCase("three requests at once", get + get + get, [200, 200, 200], .stays),
        RawCase(
            "a request after a body", "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + get, [200, 200],
            .stays),
        RawCase("requests after a refused one", get + bad + get, [200, 400], .closes),
        RawCase(
            "requests after one that closes", "GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + get, [200],
            .closes),
        RawCase("half of a request line after a request", get + "GET", [200], .ends),
        RawCase("a request and the end", get, [200], .ends),
        RawCase("a request and a half, and the end", get + "GET /2 HTTP/1.1\r\nHo", [200], .ends),
        RawCase(
            "a request within a body", "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: \(get.utf8.count)\r\n\r\n" + get,
            [200], .stays),
    ]
}
