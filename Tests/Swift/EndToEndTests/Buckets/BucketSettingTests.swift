import Formats
import Foundation
import TestKit
import Testing

/// How an operator declares buckets and their access keys, and what shows that something is wrong.
@Suite struct BucketSettingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        ("s3://", "has the bucket ''"), ("s3://A_b", "has the bucket 'A_b'"),
        ("s3://bucket/a//b", "an empty component"),
        ("s3://bucket?color=red", "the parameters of a bucket are endpoint"),
        ("s3://bucket?incomplete=/parts", "the parameters of a bucket are endpoint"),
        ("s3://bucket?endpoint=https://host/path", "a URL of a host and a port"),
        ("s3://bucket?endpoint=ftp://host", "a URL of a host and a port"),
        ("s3://bucket?endpoint=http://host", "without TLS"), ("s3://bucket?region=a.b", "has the region 'a.b'"),
        ("s3://bucket?style=other", "takes host or path"), ("s3://bucket?sse=yes", "takes AES256"),
        ("s3://bucket?credentials=mine", "takes instance"), ("s3://bucket?connections=0", "from 1 to 64"),
        ("s3://bucket?bytes_per_second=x", "takes bytes"),
    ])
    func refusesAWrongDeclaration(_ place: String, _ why: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--location", "archive=\(place)"])
        #expect(
            outcome.errors.contains("location contains 'archive=\(place)', which ") && outcome.errors.contains(why),
            "\(outcome)")
    }

    @Test func aPasswordInAnEndpointIsRefusedAndNotShown() async throws {
        let place = "archive=s3://bucket?endpoint=https://user:secret@host"
        let outcome = try await FetchdProcess.run(["config", "show", "--location", place])
        #expect(!outcome.succeeded && outcome.errors.contains("without user and path"))
        #expect(!outcome.errors.contains("secret"))
    }

    @Test(arguments: [
        "s3://bucket", "s3://my.bucket/a/b?region=eu-west-1&storage_class=GLACIER_IR&sse=aws:kms:key/1",
        "s3://bucket?endpoint=http://localhost:9000&style=host", "s3://bucket?endpoint=http://host&insecure=1",
        "s3://bucket?credentials=instance&connections=64&bytes_per_second=20M",
    ])
    func showsADeclaration(_ place: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--location", "archive=\(place)"])
        #expect(outcome.succeeded && outcome.output.contains("archive=\(place)"), "\(outcome)")
    }

    // MARK: Access keys

    private func keyFile(_ text: String, mode: Int = 0o600) throws -> String {
        let path = folder.path("key.ini")
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func start(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> FetchdProcess {
        try await FetchdProcess.start(.init(arguments: arguments, environment: environment), in: folder)
    }

    private func serve(_ arguments: [String], _ environment: [String: String] = [:]) async throws
        -> ChildProcess.Outcome
    {
        try await FetchdProcess.run(
            [
                "serve", "--listen", "127.0.0.1:0", "--data-dir", folder.path("data"), "--downloads-dir",
                folder.path("d"),
            ]
                + arguments, environment: environment)
    }

    @Test func aFileHasTheKeyAndIsReadAgain() async throws {
        let (server, origin) = (try await BucketServer(), try Origin())
        origin.serve("/a", .file([1, 2, 3]))
        let key = "[default]\naws_access_key_id = \(server.keyID)\naws_secret_access_key = "
        let path = try keyFile(key + "wrong-secret\n")
        let fetchd = try await start([
            "--location", server.location("archive"), "--location-credentials", "archive=\(path)",
        ])
        let order: JSON = ["url": .string(origin.url("/a")), "destination": ["location": "archive"]]
        let id = try await fetchd.api.submit(order)
        let waiting = try await fetchd.api.waitForJob(id, .waiting)
        #expect(
            waiting["reason"] == "storage"
                && waiting["cause"]["message"].string?.contains("the bucket answered") == true)
        _ = try keyFile(key + server.secret + "\n")
        _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
        _ = try await fetchd.api.waitForJob(id, .succeeded)
        let everything = fetchd.log + (try await fetchd.api.get("/v1/jobs/\(id)").text)
        #expect(!everything.contains("wrong-secret") && !everything.contains(server.secret))
    }

    @Test func refusesToStartWithoutAUsableKey() async throws {
        let archive = "archive=s3://bucket", other = "other=s3://other"
        let none = try await serve(["--location", archive])
        #expect(none.errors.contains("The location archive has no access key. Set AWS_ACCESS_KEY_ID"))
        let key = ["AWS_ACCESS_KEY_ID": "i", "AWS_SECRET_ACCESS_KEY": "s"]
        let two = try await serve(["--location", archive, "--location", other], key)
        #expect(two.errors.contains("The locations archive, other have no access keys of their own"))
        let half = try await serve(["--location", archive], ["AWS_ACCESS_KEY_ID": "i"])
        #expect(half.errors.contains("belong together"))
        let path = try keyFile("[default]\naws_access_key_id=i\naws_secret_access_key=s", mode: 0o640)
        let open = try await serve(["--location", archive, "--location-credentials", "archive=\(path)"])
        #expect(open.errors.contains("Other users have permissions on it. Run: chmod go= \(path)"))
        let missing = try await serve(["--location", archive, "--location-credentials", "archive=/no/file"])
        #expect(missing.errors.contains("It cannot be read: No such file or directory."))
        let unknown = try await serve(["--location-credentials", "archive=\(path)"])
        #expect(unknown.errors.contains("names the location archive, which is no s3:// bucket"))
        let outcomes = [none, two, half, open, missing, unknown]
        #expect(outcomes.allSatisfy { !$0.succeeded })
    }

    @Test func theMetadataServiceGivesTemporaryKeys() async throws {
        let (server, origin, metadata) = (try await BucketServer(), try Origin(), try Origin())
        origin.serve("/a", .file([1, 2, 3]))
        let end = Date(timeIntervalSinceNow: 3600).rfc3339
        let document: JSON = [
            "AccessKeyId": .string(server.keyID), "SecretAccessKey": .string(server.secret), "Token": "session",
            "Expiration": .string(end),
        ]
        let roles = "/latest/meta-data/iam/security-credentials/"
        metadata.serve(
            "/latest/api/token",
            OriginResource { request in
                .init(status: request.method == "PUT" ? 200 : 405, body: Array("token".utf8))
            })
        metadata.serve(
            roles,
            OriginResource { request in
                let isKnown = request.header("x-aws-ec2-metadata-token") == "token"
                return .init(status: isKnown ? 200 : 401, body: Array("role\n".utf8))
            })
        metadata.serve(roles + "role", OriginResource { _ in .init(body: document.bytes) })
        let fetchd = try await start(
            ["--location", server.location("archive", "&credentials=instance")],
            ["AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.url("")])
        let order: JSON = ["url": .string(origin.url("/a")), "destination": ["location": "archive"]]
        _ = try await fetchd.api.waitForJob(try await fetchd.api.submit(order), .succeeded)
        #expect(metadata.requests.count == 3)
    }

    // MARK: The doctor

    @Test func theDoctorFindsWhatIsWrong() async throws {
        let server = try await BucketServer()
        func doctor(_ location: String) async throws -> String {
            try await FetchdProcess.run(
                ["doctor", "--data-dir", folder.path("data"), "--downloads-dir", folder.path("d")],
                environment: server.environment.merging(["FETCHD_LOCATION": location]) { $1 }
            ).output
        }
        #expect(try await doctor(server.location("archive")).contains("The buckets take objects."))
        let elsewhere = try await doctor(server.location("archive", "&region=eu-west-1"))
        #expect(elsewhere.contains("the region of the bucket is us-east-1"), "\(elsewhere)")
        let missing = try await doctor("archive=s3://missing?endpoint=\(server.endpoint)")
        #expect(missing.contains("NoSuchBucket"), "\(missing)")
        try await server.keepConditions(false)
        #expect(try await doctor(server.location("archive")).contains("The bucket ignores If-None-Match"))
        #expect(try await server.state().created.isEmpty)
    }
}
