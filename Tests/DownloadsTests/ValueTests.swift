import Foundation
import Testing

@testable import Downloads

@Suite struct JSONTests {
    @Test func writesWhatItReads() throws {
        let text = #"{"a":[1,-2.5,true,false,null,"\u0001é\n\"\\"],"b":{},"c":9007199254740993}"#
        let value = try JSON(parsing: text)
        #expect(try JSON(parsing: value.written) == value)
        #expect(value.objectValue?["c"]?.integerValue == 9_007_199_254_740_993)
        #expect(value.objectValue?["a"]?.arrayValue?[5].stringValue == "\u{1}é\n\"\\")
    }

    @Test func keepsTheOrderOfMembersAndShortNumbers() {
        let value: JSON = ["z": 1, "a": .number(60), "m": .number(0.1), "n": .number(.nan), "t": .text("[1, 2]")]
        #expect(value.written == #"{"z":1,"a":60,"m":0.1,"n":null,"t":[1, 2]}"#)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "{a:1}", "nul", "tru", "{\"a\":1} x", "\u{FEFF}{}", "[1 2]",
        "01", "-", "1.", ".5", "1e", "+1", "1e999", "\"\t\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"open", "[", "{\"a\"}", "{\"a\":}", "// no", "NaN", "Infinity", "{\"a\":1,\"a\":2}", "\"\\u+123\"",
    ])
    func malformedTextIsRefused(_ text: String) {
        #expect(throws: JSONFault.self) { try JSON(parsing: text) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: JSONFault.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test(arguments: [
        ("0", JSON.integer(0)), ("-0.5e2", .number(-50)), (" [ ] ", .array([])), ("\"\\ud83d\\ude00\"", "😀"),
        ("\"\\/\\b\\f\"", "/\u{8}\u{C}"), ("9223372036854775808", .text("9223372036854775808")),
    ])
    func wellFormedTextIsRead(_ text: String, _ value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
    }

    @Test func aFaultSaysWhere() {
        let fault = JSONFault(offset: 6, reason: "There is no value here")
        #expect(throws: fault) { try JSON(parsing: "{\"a\": x}") }
    }

    @Test func nestingIsBounded() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: (any Error).self) { try JSON(parsing: deep) }
    }
}

@Suite struct TimeTests {
    @Test func rfc3339BothWays() throws {
        #expect(Sample.now.rfc3339 == "2019-08-19T15:23:14.250Z")
        #expect(Date(rfc3339: "2019-08-19T15:23:14.250Z") == Sample.now)
        #expect(Date(rfc3339: "2019-08-19T15:23:14Z") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-19T17:23:14+02:00") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-20T14:22:14+22:59") == Date(milliseconds: 1_566_228_194_000))
        #expect(Date(rfc3339: "2019-08-19T14:53:14-00:30") == Date(milliseconds: 1_566_228_194_000))
        for zone in ["+24:00", "+00:60", "++1:00", "+0100", "+01", "", "+01:0x"] {
            #expect(Date(rfc3339: "2019-08-19T15:23:14" + zone) == nil, "\(zone)")
        }
        #expect(Date(rfc3339: "yesterday") == nil)
        // No day, no hour.
        for text in ["2019-02-30T00:00:00Z", "2019-13-01T00:00:00Z", "2019-01-01T24:00:00Z", "2019-00-10T00:00:00Z"] {
            #expect(Date(rfc3339: text) == nil, "\(text)")
        }
        #expect(Date(rfc3339: "2020-02-29T23:59:59Z") != nil)
        for thousandths in 0..<1000 {
            let date = Date(milliseconds: 1_566_228_194_000 + Int64(thousandths))
            let digits = String(1000 + thousandths).dropFirst()
            #expect(date.rfc3339 == "2019-08-19T15:23:14.\(digits)Z")
        }
    }

    @Test func httpDates() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(Date(httpDate: text) == Date(milliseconds: 784_111_777_000), "\(text)")
        }
        for text in [
            "06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT", "",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "-5",
        ] {
            #expect(Date(httpDate: text) == nil)
        }
    }
}

@Suite struct ULIDTests {
    @Test func sortAsTheyAreMade() {
        var sequence = ULIDSequence()
        let earlier = Sample.now.addingTimeInterval(-60)
        let times = (0..<500).map { $0 % 3 == 0 ? earlier : Sample.now }
        let made = times.map { sequence.next(at: $0).description }
        #expect(made == made.sorted())
        #expect(Set(made).count == made.count)
    }

    @Test func readBackAsWritten() throws {
        var sequence = ULIDSequence()
        for _ in 0..<100 {
            let ulid = sequence.next(at: Sample.now)
            #expect(ULID(ulid.description) == ulid)
        }
        #expect(ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")?.description == "01ARZ3NDEKTSV4RRFFQ69G5FAV")
        #expect(ULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ") != nil)
        for text in ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAU"] {
            #expect(ULID(text) == nil)
        }
    }

    @Test func goOnAboveTheLastOneAfterARestartWithAnEarlierClock() {
        var first = ULIDSequence()
        let last = first.next(at: Sample.now)
        var second = ULIDSequence(after: last)
        #expect(second.next(at: Sample.now.addingTimeInterval(-3600)) > last)
    }
}

@Suite struct RuleTests {
    @Test(arguments: [
        "", "ftp://host/f", "file:///etc/passwd", "//host/f", "host/f", "http://", "http:///f", "https://ho st/",
        "http://host/\u{1}", "http://host:0/", "http://host:99999/", "http://[:::]/", "http://[e4da6]/",
        "http://\(String(repeating: "a", count: 254))/",
    ])
    func urlsThatCannotBeFetched(_ url: String) {
        #expect(URLRule.fault(in: url) != nil)
    }

    @Test(arguments: [
        "http://host", "https://user@host:8443/a?b=c#d", "HTTP://[::1]:80/x", "http://192.0.2.1/%20",
        "http://[fe80::1%25eth0]/", "http://\(String(repeating: "a", count: 253))/",
    ])
    func urlsThatCan(_ url: String) {
        #expect(URLRule.fault(in: url) == nil)
    }

    @Test func whatOfAURLMayBeShown() {
        #expect(URLRule.redacted("https://user:secret@host/p?sig=1#f") == "https://host/p?...")
        #expect(URLRule.redacted("https://host/p") == "https://host/p")
        #expect(URLRule.redacted("https://host?x=a@b") == "https://host?...")
        #expect(URLRule.withoutCredentials("https://user:p@ss@host/p?a=b@c") == "https://host/p?a=b@c")
        #expect(URLRule.withoutCredentials("https://host/p@q?a=b") == "https://host/p@q?a=b")
        #expect(Sample.job(url: "https://user:secret@host/p").document().written.contains("secret") == false)
    }

    @Test func serversAreToldApartByHostAndPort() {
        #expect(URLRule.hostAndPort(of: "https://Host/a") == "host:443")
        #expect(URLRule.hostAndPort(of: "http://host:8080/") == "host:8080")
    }

    @Test(arguments: [
        HeaderField(name: "", value: "x"), HeaderField(name: "a b", value: "x"),
        HeaderField(name: "X", value: "a\r\nB: c"),
        HeaderField(name: "X", value: "a\0"), HeaderField(name: "Range", value: "bytes=0-"),
        HeaderField(name: "host", value: "other"), HeaderField(name: "X", value: String(repeating: "a", count: 9000)),
    ])
    func headersThatCannotBeSent(_ field: HeaderField) {
        #expect(HeaderRule.fault(in: field) != nil)
    }

    @Test func headersThatCan() {
        #expect(HeaderRule.fault(in: HeaderField(name: "X-Api-Key", value: "sécret")) == nil)
    }

    @Test func patternsOfEvents() {
        #expect(EventPattern("job.*")?.matches(.jobFailed) == true)
        #expect(EventPattern("job.*")?.matches(.sessionFinished) == false)
        #expect(EventPattern("session.finished")?.matches(.sessionFinished) == true)
        for text in ["*", "job", "job.nothing", "", "webhook*"] { #expect(EventPattern(text) == nil) }
    }

    @Test func secretsOfWebhooks() throws {
        let secret = WebhookSecret.random()
        #expect(secret.key.count == 32)
        #expect(WebhookSecret(secret.text) == secret)
        for text in ["", "whsec_", "whsec_####", "whsec_" + Data(count: 8).base64EncodedString(), "abc"] {
            #expect(WebhookSecret(text) == nil)
        }
    }

    @Test func headersOfTheJobWinOverThoseOfTheSession() {
        var configuration = SessionConfiguration()
        configuration.headers = [
            HeaderField(name: "X-A", value: "session"), HeaderField(name: "X-B", value: "session"),
        ]
        configuration.timeouts.requestSeconds = 5
        var spec = JobSpec(url: "https://host/")
        spec.headers = [HeaderField(name: "x-a", value: "job")]
        var job = Sample.job()
        job.spec = spec
        let resolved = ResolvedSpec(job, in: configuration)
        #expect(
            resolved.headers == [HeaderField(name: "X-B", value: "session"), HeaderField(name: "x-a", value: "job")])
        #expect(resolved.requestSeconds == 5)
        #expect(resolved.connectSeconds == 30)
        #expect(resolved.sessionPlace.conflict == .rename)
    }

    @Test func aFileIsKnownByItsMark() throws {
        let mark = FileMark(inode: 7, born: 1, modified: 2)
        #expect(mark.isOfSameFile(as: FileMark(inode: 7, born: 1, modified: 3)))
        #expect(mark.isOfSameFile(as: FileMark(inode: 7, born: nil, modified: 2)))
        #expect(!mark.isOfSameFile(as: FileMark(inode: 8, born: 1, modified: 2)))
        // A number that was free again.
        #expect(!mark.isOfSameFile(as: FileMark(inode: 7, born: 2, modified: 2)))
        // Put back from a backup, it is the same; another one of its size is not.
        let finished = FinishedFile(path: "f", size: 5, sha256: nil, contentType: nil, mark: mark)
        let copy = FileMark(inode: 9, born: 9, modified: 2)
        #expect(finished.isThis(size: 5, copy))
        #expect(!finished.isThis(size: 6, copy))
        #expect(!finished.isThis(size: 5, FileMark(inode: 9, born: 9, modified: 9)))
        // What was finished before marks were kept.
        let old = try JSONDecoder().decode(FinishedFile.self, from: Data(#"{"path": "f", "size": 1}"#.utf8))
        #expect(old == FinishedFile(path: "f", size: 1, sha256: nil, contentType: nil))
        // It is nobody's business but the service's.
        var marked = Sample.file
        marked.mark = mark
        let jobs = [Sample.file, marked].map { Sample.job(.succeeded(Finish(file: $0, receipt: Sample.receipt))) }
        #expect(jobs[0].document().written == jobs[1].document().written)
    }

    @Test func theJournalDoesNotKeepSignaturesOfURLs() {
        let finish = Finish(file: Sample.file, receipt: Sample.receipt)
        let job = Sample.job(.succeeded(finish))
        #expect(!job.document(for: .journal).written.contains("signature"))
        #expect(job.document().written.contains("signature=s"))
        #expect(!JSON.object(Sample.job().announcement(.jobCreated)).written.contains("signature"))
    }
}
