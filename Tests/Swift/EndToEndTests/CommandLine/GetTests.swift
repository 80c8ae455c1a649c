import Foundation
import TestKit
import Testing

@Suite struct GetTests {
    @Test func getWritesFileToPipeDirectoryAndPath() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        let outcome = try await cli.shell("fetchd get \(id) > copy; echo $?; fetchd get \(id) -o - | cat > piped")
        #expect(outcome.output == "0\n" && outcome.errors.isEmpty, "\(outcome)")
        #expect(cli.folder.bytes(of: "copy") == cli.scene.bytes && cli.folder.bytes(of: "piped") == cli.scene.bytes)
        #expect(try await cli.run("get", id, "-o", ".").output == "file\n")
        #expect(try await cli.run("get", "--json", id, "-o", "other").json["id"].string == id)
        #expect(cli.folder.files == ["copy", "file", "other", "piped"])
        #expect(cli.folder.bytes(of: "other") == cli.scene.bytes)
    }

    /// A device, here behind a symbolic link, is written to and not replaced; so is a descriptor that the shell has
    /// opened.
    @Test func getWritesIntoDevicesAndOpenDescriptors() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        let sink = cli.folder.path("sink")
        try FileManager.default.createSymbolicLink(atPath: sink, withDestinationPath: "/dev/null")
        #expect(try await cli.run("get", "-o", "sink", id).succeeded)
        #expect(try await cli.run("add", "-q", "--save", "sink", cli.url("/file")).succeeded)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: sink) == "/dev/null")
        let outcome = try await cli.shell(
            "{ fetchd get -o /dev/stdout \(id); fetchd get -o /dev/fd/1 \(id); } > twice")
        let isTwice = cli.folder.bytes(of: "twice") == cli.scene.bytes + cli.scene.bytes
        #expect(outcome.succeeded && isTwice, "\(outcome)")
        let full = try await cli.run("get", "-o", "/dev/full", id)
        #expect(full.ending == .exited(73) && full.errors.contains("/dev/full cannot be written: No space"), "\(full)")
    }

    @Test func getFailsForFailedJobAndMissingFile() async throws {
        let cli = try await CommandLineScene()
        let failed = try await cli.scene.job(in: .failed)
        let outcome = try await cli.run("get", failed, "-o", "x")
        #expect(outcome.ending == .exited(75) && cli.folder.files.isEmpty, "\(outcome)")
        let done = try await cli.scene.job(in: .succeeded)
        try FileManager.default.removeItem(atPath: cli.fetchd.folder.path("downloads/file"))
        let gone = try await cli.run("get", done)
        #expect(gone.ending == .exited(66) && gone.output.isEmpty, "\(gone)")
    }

    /// The connection breaks twice: the command resumes at its offset, with the ETag of its bytes in `If-Range`.
    @Test func getResumesWithIfRangeAfterBrokenConnections() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let bytes = Content.random(seed: 3, count: 500_000)
        try await serve(bytes, at: front, of: cli)
        let path = "/v1/jobs/job_1/file"
        front.serve(path, .file(bytes), .closing(after: 200_000).first(2))
        let got = try await cli.run("get", "job_1", "-o", "copy", environment: ["FETCHD_URL": front.url("")])
        #expect(got.succeeded, "\(got)")
        #expect(cli.folder.bytes(of: "copy") == bytes && cli.folder.files == ["copy"])
        let requests = front.requests(to: path)
        #expect(requests.map { $0.header("Range") } == [nil, "bytes=200000-", "bytes=400000-"])
        #expect(requests.dropFirst().allSatisfy { $0.header("If-Range") == "\"v1\"" })
    }

    /// The file on the service's disk is no longer the one that was downloaded.
    @Test func getFailsWhenFileWasChanged() async throws {
        let (cli, front) = (try await CommandLineScene(), try Origin())
        let bytes = Content.random(seed: 3, count: 500_000)
        try await serve(bytes, at: front, of: cli)
        let environment = ["FETCHD_URL": front.url("")]
        front.serve("/v1/jobs/job_1/file", .file(Array(bytes.reversed())))
        let changed = try await cli.run("get", "job_1", "-o", "copy", environment: environment)
        #expect(changed.ending == .exited(70) && changed.errors.contains("its sha-256 is"), "\(changed)")
        // The file changes during the download: bytes of two versions are not combined.
        front.serve("/v1/jobs/job_1/file", .file(bytes), .closing(after: 100_000).once, .ignoringRanges.on(2...))
        let torn = try await cli.run("get", "job_1", "-o", "copy", environment: environment)
        #expect(torn.ending == .exited(70) && torn.errors.contains("changed"), "\(torn)")
        #expect(cli.folder.files.isEmpty)
    }

    /// A stand-in service whose file the test controls.
    private func serve(_ bytes: [UInt8], at front: Origin, of cli: CommandLineScene) async throws {
        let id = try await cli.scene.job(in: .succeeded)
        let text = try await cli.api.job(id).written.replacing(id, with: "job_1")
            .replacing(SHA.hexadecimal(of: cli.scene.bytes), with: SHA.hexadecimal(of: bytes))
        front.serve("/v1/jobs/job_1", .fixed(body: Array(text.utf8)))
    }
}
