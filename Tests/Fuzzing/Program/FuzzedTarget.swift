// The functions that libFuzzer calls. It has the `main` of the program: `fuzz TARGET ARGUMENT-OF-LIBFUZZER...`, or
// `fuzz --list`. scripts/check fuzz builds and runs it.

import Glibc

@testable import FuzzTargets

/// The target of this process. libFuzzer passes no context.
private enum FuzzedTarget {
    nonisolated(unsafe) static var run: @Sendable ([UInt8]) -> Void = { _ in }
}

/// Takes the name of the target from the arguments.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(
    count: UnsafeMutablePointer<Int32>,
    arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    let name = count.pointee > 1 ? arguments.pointee[1].map { String(cString: $0) } ?? "" : ""
    let names = FuzzTarget.all.map { $0.name }
    if name == "--list" {
        print(names.joined(separator: "\n"))
        exit(0)
    }
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        print("fuzz: '\(name)' is no target. They are: \(names.joined(separator: ", "))")
        exit(64)
    }
    FuzzedTarget.run = target.run
    for index in 1..<Int(count.pointee) { arguments.pointee[index] = arguments.pointee[index + 1] }
    count.pointee -= 1
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(bytes: UnsafePointer<UInt8>?, count: Int) -> Int32 {
    FuzzedTarget.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
