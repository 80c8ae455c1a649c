// Clients that take their responses slowly or not at all.

import Glibc
import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct SlowReaderDetectorTests {
    /// Looks at a queue at the given seconds, with a window of 10 s and at least 100 bytes.
    private static func verdicts(_ looks: [(second: Int, queue: SendQueue?)]) -> [Bool] {
        var intake = SlowReaderDetector()
        let start = ContinuousClock.now
        return looks.map { look in
            let now = start + .seconds(look.second)
            return intake.isStalled(look.queue, at: now, over: .seconds(10), atLeast: 100)
        }
    }

    private static func waiting(_ taken: UInt64) -> SendQueue { SendQueue(taken: taken, isWaiting: true) }
    private static func empty(_ taken: UInt64) -> SendQueue { SendQueue(taken: taken, isWaiting: false) }

    @Test func needsBytesThatWaitForTheWholeWindow() {
        #expect(
            Self.verdicts([(0, Self.waiting(5)), (9, Self.waiting(5)), (10, Self.waiting(5))]) == [false, false, true])
        #expect(Self.verdicts([(0, Self.waiting(5)), (10, Self.waiting(104))]) == [false, true])
        #expect(Self.verdicts([(0, Self.waiting(5)), (10, Self.waiting(105))]) == [false, false])
    }

    @Test func measuresEachWindowFromTheEndOfTheLast() {
        let looks = [
            (0, Self.waiting(0)), (10, Self.waiting(1_000)), (19, Self.waiting(1_001)), (20, Self.waiting(1_001)),
        ]
        #expect(Self.verdicts(looks) == [false, false, false, true])
    }

    /// There is nothing to take, for example between two events.
    @Test func isNotStalledWhileNothingWaits() {
        let looks = [
            (0, Self.waiting(0)), (5, Self.empty(12)), (11, Self.waiting(12)), (20, Self.waiting(12)),
            (21, Self.waiting(12)),
        ]
        #expect(Self.verdicts(looks) == [false, false, false, false, true])
        #expect(Self.verdicts([(0, nil), (10, nil), (99, nil)]) == [false, false, false])
    }

    private static func impatient(_ options: inout HTTPServer.Options) {
        (options.responseWindow, options.responseBytesPerSecond) = (.milliseconds(500), 100_000)
    }

    /// The library's limit would begin again with each byte.
    @Test(arguments: ["/bytes", "/stream"])
    func closesAConnectionWhoseClientTakesAByteNowAndThen(_ target: String) async throws {
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        let handler = TestHandler { request in
            guard request.head.path == "/stream" else { return .now(Response(status: .ok, body: .bytes(bytes))) }
            let stream = ResponseStream(length: Int64(bytes.count), bufferLimit: bytes.count)
            stream.write(bytes)
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler, configure: Self.impatient) { port in
            let client = try RawClient(port, receiveBuffer: 4_096)
            try client.send(RawClient.request("GET", target))
            #expect(throws: RawClient.Failure.self) {
                for _ in bytes {
                    _ = try client.read(count: 1)
                    usleep(20_000)
                    // Unlike reads, a write after the end fails before the received bytes are used up.
                    try client.send(" ")
                }
            }
            #expect(try RawClient(port).exchange("HEAD", "/bytes").status == 200)
        }
    }

    /// Its stream has nothing to send for several windows.
    @Test func keepsStreamsThatWait() async throws {
        let streams = Shared<[ResponseStream]>([])
        let handler = TestHandler { _ in
            let stream = ResponseStream()
            streams.change { $0.append(stream) }
            stream.write([1])
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler, configure: Self.impatient) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            _ = try client.readHead()
            #expect(try client.readChunk() == [1])
            usleep(1_500_000)
            streams.value[0].write([2])
            streams.value[0].finish()
            #expect(try client.readChunk() == [2])
        }
    }
}
