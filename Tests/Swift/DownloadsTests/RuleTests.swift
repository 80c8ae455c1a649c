import Formats
import Foundation
import HTTPSemantics
import Testing

@testable import Downloads

@Suite struct RuleTests {
    @Test(arguments: [
        HeaderField(name: "", value: "x"), HeaderField(name: "a b", value: "x"),
        HeaderField(name: "X", value: "a\r\nB: c"),
        HeaderField(name: "X", value: "a\0"), HeaderField(name: "Range", value: "bytes=0-"),
        HeaderField(name: "host", value: "other"), HeaderField(name: "X", value: String(repeating: "a", count: 9000)),
    ])
    func refusesHeaderThatCannotBeSent(_ field: HeaderField) {
        #expect(field.fault != nil)
    }

    @Test func acceptsValidHeader() {
        #expect(HeaderField(name: "X-Api-Key", value: "sécret").fault == nil)
    }

    @Test func matchesEventPatterns() {
        #expect(EventPattern("job.*")?.matches(.jobFailed) == true)
        #expect(EventPattern("job.*")?.matches(.sessionFinished) == false)
        #expect(EventPattern("session.finished")?.matches(.sessionFinished) == true)
        for text in ["*", "job", "job.nothing", "", "webhook*"] { #expect(EventPattern(text) == nil) }
    }

    @Test func generatesAndParsesWebhookSecrets() throws {
        let secret = WebhookSecret.random()
        #expect(secret.key.count == 32)
        #expect(WebhookSecret(secret.text) == secret)
        for text in ["", "whsec_", "whsec_####", "whsec_" + Data(count: 8).base64EncodedString(), "abc"] {
            #expect(WebhookSecret(text) == nil)
        }
    }

    @Test func prefersJobHeadersToSessionHeaders() {
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
        #expect(resolved.sessionDestination.conflict == .rename)
    }

    @Test func recognisesFinishedFileByItsMark() throws {
        let mark = FileMark(inode: 7, born: 1, modified: 2)
        #expect(mark.isOfSameFile(as: FileMark(inode: 7, born: 1, modified: 3)))
        #expect(mark.isOfSameFile(as: FileMark(inode: 7, born: nil, modified: 2)))
        #expect(!mark.isOfSameFile(as: FileMark(inode: 8, born: 1, modified: 2)))
        // The inode number was reused.
        #expect(!mark.isOfSameFile(as: FileMark(inode: 7, born: 2, modified: 2)))
        // A file restored from a backup is the same file; another file of its size is not.
        let finished = FinishedFile(path: "f", size: 5, sha256: nil, contentType: nil, mark: mark)
        let copy = FileMark(inode: 9, born: 9, modified: 2)
        #expect(finished.isThis(size: 5, copy))
        #expect(!finished.isThis(size: 6, copy))
        #expect(!finished.isThis(size: 5, FileMark(inode: 9, born: 9, modified: 9)))
        // A file that was finished before marks were stored.
        let old = try JSONDecoder().decode(FinishedFile.self, from: Data(#"{"path": "f", "size": 1}"#.utf8))
        #expect(old == FinishedFile(path: "f", size: 1, sha256: nil, contentType: nil))
        // The mark is internal: the document does not show it.
        var marked = Sample.file
        marked.mark = mark
        let jobs = [Sample.file, marked].map { Sample.job(.succeeded(JobResult(file: $0, receipt: Sample.receipt))) }
        #expect(jobs[0].document().written == jobs[1].document().written)
    }

    @Test func journalOmitsURLSignatures() {
        #expect(Sample.job(url: "https://user:secret@host/p").document().written.contains("secret") == false)
        let finish = JobResult(file: Sample.file, receipt: Sample.receipt)
        let job = Sample.job(.succeeded(finish))
        #expect(!job.document(for: .redacted).written.contains("signature"))
        #expect(job.document().written.contains("signature=s"))
        #expect(!Sample.job().announcement(.jobCreated).contains("signature"))
    }
}
