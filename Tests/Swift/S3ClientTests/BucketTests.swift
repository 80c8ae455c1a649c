import CurlClient
import Foundation
import TestKit
import Testing

@testable import S3Client

/// Against moto, which compares each signature with botocore's.
@Suite(.enabled("scripts/setup has set up .venv") { await Project.hasPythonPackage("moto.server") })
struct BucketTests {
    private struct Ready: Decodable {
        var port: Int
        var bucket, id, secret: String
    }

    private let server: ChildProcess
    private let ready: Ready
    private let client: CurlClient

    init() async throws {
        let server = try await ChildProcess(Project.python, [Project.path("Tests/S3/moto_server.py")])
        let line = try await eventually("the server") {
            server.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first {
                $0.hasPrefix("{")
            }
        }
        ready = try JSONDecoder().decode(Ready.self, from: Data(line.utf8))
        self.server = server
        client = try CurlClient()
    }

    private func bucket(secret: String? = nil, region: String = "us-east-1") -> Bucket {
        let key = AccessKey(id: ready.id, secret: secret ?? ready.secret)
        return Bucket(
            ready.bucket, at: Endpoint(scheme: "http", authority: "127.0.0.1:\(ready.port)"), by: client
        ) { RequestSigner(key, region: region) }
    }

    @Test func anObjectIsPutFoundAndDeleted() async throws {
        let bucket = bucket()
        let key = "a b/ö+=&?#%25*'()/x.bin"
        let version = try await bucket.put(
            key, .bytes(Array("abc".utf8)),
            headers: [.init("Content-Type", "text/plain"), .init("x-amz-meta-Fetchd-Job", "j  1")])
        #expect(version.etag == "\"900150983cd24fb0d6963f7d28e17f72\"")
        let head = try await bucket.head(key)
        #expect(head?.version.etag == version.etag && head?.size == 3)
        #expect(head?.metadata["fetchd-job"]?.hasPrefix("j") == true)
        try await bucket.delete(key)
        #expect(try await bucket.head(key) == nil)
        try await bucket.delete(key)
    }

    @Test func aWrongSecretIsRefused() async throws {
        await #expect {
            try await bucket(secret: "wrong").put("a", .bytes([]))
        } throws: { error in
            (error as? StorageError).map { $0.status == 403 && $0.code == "SignatureDoesNotMatch" && !$0.mayPass }
                == true
        }
    }

    @Test func anObjectExistsOnlyAfterItsUploadIsComplete() async throws {
        let (bucket, size) = (bucket(), 5 << 20)
        let upload = try await bucket.createUpload(of: "films/a.bin", headers: [.init("x-amz-meta-run", "7")])
        let first = try await bucket.put(1, of: upload, .bytes([UInt8](repeating: 1, count: size)))
        let wrong = try await bucket.put(2, of: upload, .bytes([2, 2]))
        let last = try await bucket.put(2, of: upload, .bytes([3]))
        #expect(wrong.etag != last.etag)
        #expect(try await bucket.parts(of: upload) == [first, last])
        #expect(try await bucket.uploads(of: "films/a").map(\.upload) == [upload])
        #expect(try await bucket.uploads(of: "music/") == [])
        #expect(try await bucket.head("films/a.bin") == nil)
        let version = try await bucket.complete(upload, [first, last])
        let head = try #require(try await bucket.head("films/a.bin"))
        #expect(head.size == Int64(size) + 1 && head.version.etag == version.etag && head.metadata["run"] == "7")
        #expect(try await bucket.uploads(of: "films/") == [])
    }

    @Test func anAbortedUploadLeavesNothing() async throws {
        let bucket = bucket()
        let upload = try await bucket.createUpload(of: "a")
        _ = try await bucket.put(1, of: upload, .bytes([1]))
        let unknown = Bucket.Upload(key: "a", id: "none")
        await #expect {
            _ = try await bucket.parts(of: unknown)
        } throws: { error in
            (error as? StorageError).map { $0.code == "NoSuchUpload" && $0.status == 404 } == true
        }
        try await bucket.abort(upload)
        try await bucket.abort(upload)
        #expect(try await bucket.uploads(of: "").isEmpty)
        #expect(try await bucket.head("a") == nil)
    }

    @Test func anExistingObjectIsNotReplacedOnACondition() async throws {
        let (bucket, condition) = (bucket(), [StorageRequest.Field("If-None-Match", "*")])
        _ = try await bucket.put("a", .bytes([1]), headers: condition)
        await #expect {
            _ = try await bucket.put("a", .bytes([2]), headers: condition)
        } throws: { error in
            (error as? StorageError)?.status == 412
        }
        let upload = try await bucket.createUpload(of: "a")
        let part = try await bucket.put(1, of: upload, .bytes([3]))
        await #expect {
            _ = try await bucket.complete(upload, [part], headers: condition)
        } throws: { error in
            (error as? StorageError)?.status == 412
        }
        #expect(try await bucket.head("a")?.size == 1)
    }

    @Test func aServerThatIsAwayIsNoAnswer() async throws {
        let away = Bucket("b", at: Endpoint(scheme: "http", authority: "127.0.0.1:1"), by: client) {
            RequestSigner(AccessKey(id: "i", secret: "s"), region: "us-east-1")
        }
        await #expect {
            _ = try await away.head("a")
        } throws: { error in
            (error as? StorageError).map { $0.status == nil && $0.mayPass } == true
        }
    }

    @Test func errorsAreReadFromTheirBodies() {
        let body = Array(
            "<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code><Message>Wait &amp; see</Message></Error>".utf8)
        let inside = StorageError(200, [], XMLLeaves(body))
        #expect(inside?.code == "SlowDown" && inside?.message == "Wait & see" && inside?.mayPass == true)
        let moved = StorageError(301, [("X-Amz-Bucket-Region", "eu-west-1")], XMLLeaves([]))
        #expect(moved?.region == "eu-west-1" && moved?.code == "301" && moved?.mayPass == false)
        #expect(StorageError(204, [], XMLLeaves([])) == nil)
        #expect(StorageError(200, [], XMLLeaves(Array("<a xmlns=\"u\"><b>1</b></a>".utf8))) == nil)
        #expect(XMLLeaves(Array("<a><b>1</b><b>2</b><c/></a>".utf8))["b"] == ["1", "2"])
        #expect(XMLLeaves(Array("no xml".utf8))["a"] == [])
    }
}
