import CurlClient
import Downloads
import Testing

@testable import Engine

/// What an attempt asks next.
@Suite struct ItineraryTests {
    private func way(offset: Int64 = 0) -> Itinerary {
        Itinerary(from: "https://host/a", asking: RequestedRange(offset: offset))
    }

    private func code(_ step: Itinerary.Step) -> Failure.Code? {
        if case .failed(let failure) = step { failure.code } else { nil }
    }

    @Test func twentyRedirectsAreFollowedAndNotOneMore() {
        var way = way()
        for hop in 1...20 {
            #expect(
                way.step(after: .rejected, .redirect(status: 302), redirectingTo: "https://host/\(hop)") == .askAgain)
        }
        #expect(way.url == "https://host/20")
        #expect(way.redirects.count == 20)
        #expect(
            code(way.step(after: .rejected, .redirect(status: 302), redirectingTo: "https://host/21"))
                == .tooManyRedirects)
    }

    @Test(arguments: [nil, "ftp://host/a", "file:///etc/passwd", "https://"])
    func redirectsThatCannotBeFollowed(_ target: String?) {
        var way = way()
        #expect(code(way.step(after: .rejected, .redirect(status: 302), redirectingTo: target)) == .badURL)
    }

    @Test func onlyOneRestart() {
        var way = way(offset: 100)
        #expect(way.step(after: .rejected, .askFromStart(.etagChanged), redirectingTo: nil) == .askAgain)
        #expect(way.asked == RequestedRange(offset: 0, restart: .etagChanged))
        #expect(code(way.step(after: .rejected, .askFromStart(.badRange), redirectingTo: nil)) == .badRange)
    }

    /// The exchange was ended by us, or had come to its end before that.
    @Test(arguments: [TransferResult.Outcome.cancelled, .completed])
    func aBodyThatWasNotWhatItsHeadSaidIsAskedForAgain(_ outcome: TransferResult.Outcome) {
        var way = way(offset: 100)
        #expect(way.step(after: outcome, .askFromStart(.badRange), redirectingTo: nil) == .askAgain)
        #expect(way.asked == RequestedRange(offset: 0, restart: .badRange))
    }

    @Test func ends() {
        var way = way(offset: 100)
        let accept = ResponseVerdict.accept(at: 100, skipping: 0, size: 200, .resumed(offset: 100))
        #expect(way.step(after: .completed, accept, redirectingTo: nil) == .arrived)
        #expect(
            way.step(after: .rejected, .alreadyComplete(offset: 100), redirectingTo: nil) == .alreadyThere(size: 100))
        #expect(way.step(after: .cancelled, accept, redirectingTo: nil) == .abandoned)
        #expect(code(way.step(after: .failed(.timedOut(.idle)), accept, redirectingTo: nil)) == .timedOut)
        #expect(code(way.step(after: .completed, nil, redirectingTo: nil)) == .connectionLost)
    }
}
