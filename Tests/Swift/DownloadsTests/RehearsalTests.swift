import HTTPSemantics
import Testing

@testable import Downloads

/// Parsing of `rehearse:` URLs, and the messages for invalid ones.
@Suite struct RehearsalParsingTests {
    @Test func parsesNameWithDefaults() throws {
        let rehearsal = try Rehearsal(parsing: "rehearse:film.mkv")
        #expect(rehearsal.name == "film.mkv")
        #expect(rehearsal.size == 1_048_576)
        #expect(rehearsal.duration == .zero)
        #expect(rehearsal.status == nil)
        #expect(rehearsal.rangeStatus == nil)
        #expect(rehearsal.retryAfter == nil)
        #expect(rehearsal.lossPosition == nil)
    }

    @Test func parsesEveryParameter() throws {
        let rehearsal = try Rehearsal(
            parsing: "REHEARSE:a%20b?size=1000&seconds=2.5&status=503&then=403&retry_after=7&lose_at=999")
        #expect(rehearsal.name == "a b")
        #expect(rehearsal.size == 1000)
        #expect(rehearsal.duration == .milliseconds(2500))
        #expect(rehearsal.status == 503)
        #expect(rehearsal.rangeStatus == 403)
        #expect(rehearsal.retryAfter == 7)
        #expect(rehearsal.lossPosition == 999)
    }

    @Test(arguments: [
        "size=0", "size=1099511627776", "size=007", "seconds=0", "seconds=0.0", "seconds=86400", "seconds=86400.0",
        "seconds=0.000000000000000001", "status=400", "status=599", "then=400", "then=599", "status=500&retry_after=0",
        "then=500&retry_after=86400", "lose_at=1", "lose_at=1048575", "lose_at=5&size=6", "",
    ])
    func acceptsBoundaryValues(_ query: String) throws {
        #expect(Rehearsal.fault(in: "rehearse:f?\(query)") == nil)
    }

    @Test(arguments: [
        ("f", "f"), ("%2E%2e%2E", "..."), (".f", ".f"), ("a=b&c", "a=b&c"), ("na%C3%AFve", "naïve"), ("a:b", "a:b"),
        (String(repeating: "x", count: 200), String(repeating: "x", count: 200)),
        (String(repeating: "%C3%AF", count: 100), String(repeating: "ï", count: 100)),
    ])
    func decodesName(_ text: String, _ name: String) throws {
        #expect(try Rehearsal(parsing: "rehearse:\(text)").name == name)
        #expect(try Rehearsal(parsing: "rehearse:\(text)?size=1").name == name)
    }

    @Test(arguments: [
        ("https://host/f", "is no rehearsal such as rehearse:film.mkv"),
        ("rehearse", "is no rehearsal such as rehearse:film.mkv"), ("", "is no rehearsal such as rehearse:film.mkv"),
        ("rehearse:a b", "contains a space or control character"),
        ("rehearse:f?size=1\n", "contains a space or control character"),
        ("rehearse:f#part", "has a fragment, which no origin gets"),
        ("rehearse:f?size=1#part", "has a fragment, which no origin gets"),
        ("rehearse:" + String(repeating: "x", count: 8192), "is longer than 8192 bytes"),
    ])
    func refusesURLThatIsNoRehearsal(_ url: String, _ fault: String) {
        #expect(Rehearsal.fault(in: url) == fault)
    }

    @Test(arguments: [
        ("", "has no name such as film.mkv in rehearse:film.mkv"),
        ("?size=1", "has no name such as film.mkv in rehearse:film.mkv"),
        (".", "has the name ., which must be one path component of 1 to 200 bytes"),
        ("%2e%2E", "has the name %2e%2E, which must be one path component of 1 to 200 bytes"),
        ("a/b", "has the name a/b, which must be one path component of 1 to 200 bytes"),
        ("//host/f", "has the name //host/f, which must be one path component of 1 to 200 bytes"),
        ("a%2Fb", "has the name a%2Fb, which must be one path component of 1 to 200 bytes"),
        ("a/\u{301}b", "has the name a/\u{301}b, which must be one path component of 1 to 200 bytes"),
        ("100%", "has the name 100%, which is not percent-encoded UTF-8"),
        ("%FF", "has the name %FF, which is not percent-encoded UTF-8"),
        ("a%00b", "has the name a%00b, which contains a control character"),
        ("a%0Ab", "has the name a%0Ab, which contains a control character"),
        (
            String(repeating: "x", count: 201),
            "has the name \(String(repeating: "x", count: 40)), which must be one path component of 1 to 200 bytes"
        ),
    ])
    func refusesUnusableName(_ name: String, _ fault: String) {
        #expect(Rehearsal.fault(in: "rehearse:\(name)") == fault)
    }

    @Test(arguments: [
        ("size", ["", "-1", "+1", "1e3", "0x10", "1.0", "1099511627777", "99999999999999999999", "1,000", "١"]),
        ("seconds", ["", "-1", "+1", ".5", "5.", "1e3", "1.2.3", "nan", "inf", "86400.1", "0.00000000000000000001"]),
        ("status", ["", "200", "399", "600", "4o4"]), ("then", ["", "206", "399", "600"]),
        ("retry_after", ["", "-1", "1.5", "86401", "Sat"]), ("lose_at", ["", "0", "-1", "1048576", "1048577", "half"]),
    ])
    func refusesUnusableValue(_ parameter: String, _ values: [String]) throws {
        for value in values {
            let fault = try #require(Rehearsal.fault(in: "rehearse:f?\(parameter)=\(value)"))
            #expect(fault.hasPrefix("has the parameter \(parameter) \"\(value)\", which must be "))
        }
    }

    @Test(arguments: [
        ("size=1k", "has the parameter size \"1k\", which must be a whole number of bytes from 0 to 1099511627776"),
        ("seconds=5s", "has the parameter seconds \"5s\", which must be a number from 0 to 86400"),
        ("status=200", "has the parameter status \"200\", which must be a status from 400 to 599"),
        ("then=200", "has the parameter then \"200\", which must be a status from 400 to 599"),
        (
            "retry_after=1.5",
            "has the parameter retry_after \"1.5\", which must be a whole number of seconds from 0 to 86400"
        ),
        (
            "lose_at=6&size=6",
            "has the parameter lose_at \"6\", which must be a whole number of bytes, more than 0 and less than size"
        ),
        (
            "status=" + String(repeating: "4", count: 100),
            "has the parameter status \"\(String(repeating: "4", count: 40))\", which must be a status from 400 to 599"
        ),
        ("retry_after=5", "has the parameter retry_after, which needs status or then"),
        ("size=1&seconds=1&size=1", "has the parameter size more than once"),
        ("Size=1", "has the unknown parameter \"Size\""), ("speed=1", "has the unknown parameter \"speed\""),
        ("size%3D1", "has the unknown parameter \"size%3D1\""), ("size=1&", "has the unknown parameter \"\""),
        ("&", "has the unknown parameter \"\""), ("=1", "has the unknown parameter \"\""),
        ("?size=1", "has the unknown parameter \"?size\""),
    ])
    func explainsFault(_ query: String, _ fault: String) {
        #expect(Rehearsal.fault(in: "rehearse:f?\(query)") == fault)
    }

    @Test func recognisesRehearsalByScheme() {
        for url in ["rehearse:", "rehearse:f", "Rehearse:f", "REHEARSE://", "rehearse:\u{301}"] {
            #expect(Rehearsal.isRehearsal(url))
        }
        for url in ["", "rehearse", "rehearsed:f", " rehearse:f", "http://rehearse:1/", "https://host/rehearse:f"] {
            #expect(!Rehearsal.isRehearsal(url))
        }
    }

    @Test(arguments: ["f", "a%20b?size=1&seconds=2", "naïve.txt", "a:b@c"])
    func mapsToFetchableAddress(_ rest: String) {
        let address = Rehearsal.address(of: "reHearse:\(rest)", at: "http://127.0.0.1:4711")
        #expect(address == "http://127.0.0.1:4711/\(rest)")
        #expect(URLRule.fault(in: address) == nil)
    }
}

/// Responses by kind of request and rehearsal.
@Suite struct RehearsalDecisionTests {
    private static func rehearsal(_ query: String) throws -> Rehearsal { try Rehearsal(parsing: "rehearse:f?\(query)") }

    @Test(arguments: [
        // query, plain, with a range, authorized, authorized with a range
        ("", [nil, nil, nil, nil]), ("status=500", [500, 500, 500, 500]), ("status=401", [401, 401, nil, nil]),
        ("then=403", [nil, 403, nil, 403]), ("then=401", [nil, 401, nil, nil]),
        ("status=500&then=403", [500, 403, 500, 403]), ("status=401&then=403", [401, 403, nil, 403]),
        ("status=403&then=401", [403, 401, 403, nil]),
    ])
    func refusesByRangeAndAuthorization(_ query: String, _ expected: [Int?]) throws {
        let rehearsal = try Self.rehearsal(query)
        let refusals = [(false, false), (true, false), (false, true), (true, true)].map {
            rehearsal.refusal(hasRange: $0, isAuthorized: $1)
        }
        #expect(refusals == expected)
    }

    @Test(
        arguments: [
            (0..<100, 0..<40), (0..<40, 0..<40), (0..<41, 0..<40), (39..<100, 39..<40), (40..<100, 40..<100),
            (41..<50, 41..<50), (10..<20, 10..<20),
        ] as [(Range<Int64>, Range<Int64>)])
    func losesConnectionOnceAtLoseAt(_ asked: Range<Int64>, _ sent: Range<Int64>) throws {
        #expect(try Self.rehearsal("size=100&lose_at=40").sent(of: asked) == sent)
        #expect(try Self.rehearsal("size=100").sent(of: asked) == asked)
    }

    @Test func pacesBytesEvenly() throws {
        let slow = try Self.rehearsal("size=1000&seconds=10")
        #expect(slow.bytesDue(after: .zero) == 0)
        #expect(slow.bytesDue(after: .seconds(2.5)) == 250)
        #expect(slow.bytesDue(after: .seconds(10)) == 1000)
        #expect(slow.bytesDue(after: .seconds(1e9)) == 1000)
        #expect(slow.time(of: 1) == .milliseconds(10))
        #expect(slow.time(of: 1000) == .seconds(10))
        let sudden = try Self.rehearsal("size=1099511627776&seconds=0.000000000000000001")
        #expect(sudden.bytesDue(after: .nanoseconds(1)) == sudden.size)
        let immediate = try Self.rehearsal("size=1000")
        #expect(immediate.bytesDue(after: .zero) == 1000)
        #expect(immediate.time(of: 1000) == .zero)
    }
}
