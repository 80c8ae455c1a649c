import Testing

@testable import CurlClient

/// Parses heads line by line, without a connection.
@Suite struct HeadParserTests {
    /// Feeds lines, and returns every head that they produce.
    private func parse(_ lines: [String], byteLimit: Int = 10_000) throws(TransferError) -> [ResponseHead] {
        var parser = HeadParser(byteLimit: byteLimit)
        var heads: [ResponseHead] = []
        for line in lines {
            if let head = try parser.feed(Array("\(line)\r\n".utf8)) { heads.append(head) }
        }
        return heads
    }

    private func parseOne(_ fields: String...) throws -> ResponseHead {
        try #require(try parse(["HTTP/1.1 200 OK"] + fields + [""]).first)
    }

    @Test(arguments: ["HTTP/1.1 206 Partial Content", "HTTP/1.1 206", "HTTP/1.1 206 "])
    func parsesStatusLines(line: String) throws {
        let head = try #require(try parse([line, ""]).first)
        #expect(head.status == 206)
        #expect(head.httpVersion == "HTTP/1.1")
    }

    @Test(arguments: ["nonsense", "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK", "FTP 200 OK"])
    func refusesInvalidStatusLines(line: String) {
        #expect(throws: TransferError.protocolError("the status line cannot be read")) { try parse([line, ""]) }
    }

    @Test func keepsOrderAndCaseOfFields() throws {
        let head = try parseOne("Set-Cookie: a=1", "X-Empty:", "set-cookie:b=2  ", "X-Tab:\t x y\t")
        #expect(head.headers.map(\.name) == ["Set-Cookie", "X-Empty", "set-cookie", "X-Tab"])
        #expect(head.headers.map(\.value) == ["a=1", "", "b=2", "x y"])
        #expect(head.values(of: "SET-COOKIE") == ["a=1", "b=2"])
        #expect(head.value(of: "x-none") == nil)
    }

    @Test func appendsFoldedLinesToTheValue() throws {
        #expect(try parseOne("X-Long: one", "  two", "\tthree", "Y: z").headers.map(\.value) == ["one two three", "z"])
    }

    @Test func ignoresLinesWithoutAColon() throws {
        #expect(try parseOne("whatever", "A: 1").headers.map(\.name) == ["A"])
    }

    @Test func decodesValuesThatAreNotUTF8AsLatin1() throws {
        var parser = HeadParser(byteLimit: 1_000)
        _ = try parser.feed(Array("HTTP/1.1 200 OK\r\n".utf8))
        _ = try parser.feed(Array("A: caf".utf8) + [0xE9, 13, 10])
        _ = try parser.feed(Array("B: café\n".utf8))
        guard let head = try parser.feed([13, 10]) else {
            Issue.record("no head")
            return
        }
        #expect(head.headers.map(\.value) == ["café", "café"])
    }

    @Test func skipsInterimHeadsAndTrailers() throws {
        let heads = try parse(
            ["HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", ""]
                + ["X-Trailer: 1", "HTTP/1.1 404 Not Found", ""])
        #expect(heads.map(\.status) == [200])
        #expect(heads.first?.headers.map(\.name) == ["A"])
    }

    @Test func countsAllLinesAgainstTheByteLimit() {
        let interim = ["HTTP/1.1 103 Early Hints", ""]
        #expect(throws: TransferError.headTooLarge) {
            try parse(Array(repeating: interim, count: 10).flatMap(\.self), byteLimit: 100)
        }
        #expect(throws: TransferError.headTooLarge) {
            try parse(["HTTP/1.1 200 OK", "", "X-Trailer: \(String(repeating: "x", count: 100))"], byteLimit: 100)
        }
    }

    @Test func parsesContentLength() throws {
        #expect(try parseOne("Content-Length: 0").contentLength == 0)
        #expect(try parseOne("content-length:  12345678901 ").contentLength == 12_345_678_901)
        #expect(try parseOne("Content-Length: 5", "Content-Length: 5").contentLength == 5)
        #expect(try parseOne("Content-Length: 5, 5").contentLength == 5)
        #expect(try parseOne("A: 1").contentLength == nil)
        #expect(try parseOne("Transfer-Encoding: chunked", "Content-Length: 5").contentLength == nil)
    }

    @Test(arguments: ["-5", "+5", "5x", "", "99999999999999999999", "5, 6", "0x5"])
    func refusesInvalidContentLength(value: String) {
        #expect(throws: TransferError.self) { try parseOne("Content-Length: \(value)") }
    }

    @Test(arguments: ["gzip", "gzip, chunked", "identity"])
    func refusesUnsupportedTransferCodings(value: String) {
        #expect(throws: TransferError.self) { try parseOne("Transfer-Encoding: \(value)") }
    }

    @Test func detectsWhetherTheBodyEndIsMarked() {
        let bare = ResponseHead(status: 200)
        #expect(!bare.marksBodyEnd(method: "GET"))
        #expect(bare.marksBodyEnd(method: "HEAD"))
        #expect(ResponseHead(status: 204).marksBodyEnd(method: "GET"))
        #expect(ResponseHead(status: 200, contentLength: 0).marksBodyEnd(method: "GET"))
        #expect(ResponseHead(status: 200, headers: [("transfer-encoding", "Chunked")]).marksBodyEnd(method: "GET"))
    }

    @Test func resolvesRedirectTargets() {
        func target(_ status: Int, _ location: String) -> String? {
            let head = ResponseHead(status: status, headers: [("Location", location)])
            return head.redirectTarget(from: "http://a.example/b/c?d")
        }
        #expect(target(302, "e?f") == "http://a.example/b/e?f")
        #expect(target(301, "//other.example/x") == "http://other.example/x")
        #expect(target(308, "?q") == "http://a.example/b/c?q")
        #expect(target(307, "ftp://other.example/") == "ftp://other.example/")
        #expect(target(302, "http://") == nil)
        #expect(target(302, "/x\r\nY: z") == nil)
        #expect(target(200, "/x") == nil)
        #expect(target(304, "/x") == nil)
    }
}
