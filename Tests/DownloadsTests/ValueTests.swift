import Formats
import Foundation
import Testing

@testable import Downloads

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
        #expect(URLRule.host(of: "http://[::1]:80/") == "::1")
        for text in ["", "host/a", "://", "http://"] { #expect(URLRule.host(of: text).isEmpty, "\(text)") }
    }

    @Test func aURLWithoutAnAuthorityHasItsSchemeForAHost() {
        for text in ["rehearse:film.mkv?size=1", "Rehearse:a", "rehearse:/a", "rehearse:%zz"] {
            #expect(URLRule.host(of: text) == "rehearse", "\(text)")
            #expect(URLRule.hostAndPort(of: text) == "rehearse", "\(text)")
        }
        #expect(URLRule.origin(of: "rehearse:a") == "rehearse://rehearse")
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
