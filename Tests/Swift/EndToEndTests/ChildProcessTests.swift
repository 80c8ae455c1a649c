import Glibc
import TestKit
import Testing

/// The tests' own way to start programs.
struct ChildProcessTests {
    /// Foundation's `Process` could crash with so many descriptors.
    @Test(.enabled("needs 10,000 file descriptors") { FileDescriptors.limit >= 10_000 })
    func inheritsNoneOfThousandsOfDescriptors() async throws {
        let opened = (0..<2_000).map { _ in dup(STDIN_FILENO) }.filter { $0 >= 0 }
        defer { for descriptor in opened { close(descriptor) } }
        let outcome = try await ChildProcess.run("ls", ["/proc/self/fd"])
        // The fourth is the folder that `ls` reads.
        #expect(outcome.output == "0\n1\n2\n3\n")
    }

    @Test func reportsHowAProgramEnds() async throws {
        #expect(try await ChildProcess.run("sh", ["-c", "exit 3"]).ending == .exited(3))
        #expect(try await ChildProcess.run("sh", ["-c", "kill -TERM $$"]).ending == .killed(signal: SIGTERM))
    }

    @Test func givesInputEnvironmentAndFolder() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await ChildProcess.run(
            "sh", ["-c", "cat; echo \"$COLOUR\" >&2; pwd"], environment: ["COLOUR": "blue"],
            workingFolder: folder.path, input: Array("words\n".utf8))
        #expect(outcome.output == "words\n\(folder.path)\n")
        #expect(outcome.errors == "blue\n")
    }

    @Test func failsWithoutItsFolder() async throws {
        await #expect(throws: (any Error).self) {
            try await ChildProcess.run("true", [], workingFolder: "/nowhere")
        }
    }
}
