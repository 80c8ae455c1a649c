import Foundation

@testable import FuzzTargets

/// `fuzz-replay CORPUS COUNT FILE`: runs each target with the inputs of its folder in CORPUS, and with COUNT more that are
/// made from them. It needs no sanitizer, so it is part of every build.
///
/// Before each run, FILE receives the input: if the process crashes, FILE has the input that was the reason.
@main struct Replay {
    private let corpus: URL
    private let count: Int
    private let file: FileHandle

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[2]),
            FileManager.default.createFile(atPath: arguments[3], contents: nil),
            let file = FileHandle(forWritingAtPath: arguments[3])
        else { fatalError("usage: fuzz-replay CORPUS COUNT FILE") }
        let replay = Replay(corpus: URL(filePath: arguments[1]), count: count, file: file)
        for target in FuzzTarget.all { try replay.run(target) }
    }

    private func run(_ target: FuzzTarget) throws {
        let seeds = try seeds(of: target)
        var mutations = Mutations(of: seeds, named: target.name)
        // A pipe keeps the last line, which names the target of a crash.
        FileHandle.standardOutput.write(Data("\(target.name) \(seeds.count + count) inputs\n".utf8))
        for seed in seeds { try run(target, seed) }
        for _ in 0..<count { try run(target, mutations.next()) }
    }

    private func run(_ target: FuzzTarget, _ input: [UInt8]) throws {
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: input)
        target.run(input)
    }

    private func seeds(of target: FuzzTarget) throws -> [[UInt8]] {
        let folder = corpus.appending(path: target.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        precondition(!names.isEmpty, "the corpus of \(target.name) is empty")
        return try names.map { [UInt8](try Data(contentsOf: folder.appending(path: $0))) }
    }
}
