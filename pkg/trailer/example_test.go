package trailer_test

import (
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

const bump = `Bump shop to 4.5

It has the fix for the cart.

Nav-Watchdog: app=shop deadline=10m
 mode=arm
Signed-off-by: Ada <ada@example.com>
`

func ExampleParse() {
	block := trailer.Parse([]byte(bump))
	for _, t := range block.Trailers {
		fmt.Printf("%d: %s = %s\n", t.Pos.Line, t.Key, t.Value)
	}
	fmt.Println(len(block.Get("nav-watchdog")), "of ours")
	// Output:
	// 5: Nav-Watchdog = app=shop deadline=10m mode=arm
	// 7: Signed-off-by = Ada <ada@example.com>
	// 1 of ours
}

func ExampleDecode() {
	watches, _ := trailer.Decode([]byte(bump), trailer.DefaultPolicy())
	for _, w := range watches {
		fmt.Println(w.App, w.Deadline, w.Reach, w.Stable, w.Mode, w.Expect)
	}
	// Output: shop 10m0s 15m0s 2m0s arm Healthy
}

func ExampleLint() {
	msg := []byte("Bump shop to 4.5\n\nSee the ticket.\nNav-Watchdog: app=shop\n")
	for _, f := range trailer.Lint(msg, trailer.DefaultPolicy()) {
		fmt.Printf("%d:%d: %s: %s [%s]\n", f.Pos.Line, f.Pos.Col, f.Severity, f.Message, f.Rule)
		fmt.Println("hint:", f.Hint)
	}
	// Output:
	// 4:1: error: git reads no trailer here: line 3, "See the ticket.", is no trailer, so the whole paragraph is text to git [nav-outside-block]
	// hint: put a blank line between line 3 and the trailers
}

func ExampleFormat() {
	msg := trailer.Format([]byte("Bump shop to 4.5\n"), trailer.Trailer{Key: trailer.Key, Value: "app=shop"})
	fmt.Printf("%s", msg)
	// Output:
	// Bump shop to 4.5
	//
	// Nav-Watchdog: app=shop
}

func ExampleClean() {
	edited := "Bump shop to 4.5  \n\n\nNav-Watchdog: app=shop\n\n# Please enter the commit message for your changes.\n"
	fmt.Printf("%s", trailer.Clean([]byte(edited), trailer.Cleanup{}))
	// Output:
	// Bump shop to 4.5
	//
	// Nav-Watchdog: app=shop
}

func ExampleParseFields() {
	w, err := trailer.ParseFields("app=web deadline=40", trailer.DefaultPolicy())
	fmt.Println(w.App, w.Deadline, err)
	_, err = trailer.ParseFields("app=web deadline=1500ms", trailer.DefaultPolicy())
	fmt.Println(err)
	// Output:
	// web 40s <nil>
	// 1:9: deadline=1500ms is not a whole number of seconds
	// hint: use whole seconds (900) or a Go duration (15m, 1h30m)
}

func ExampleIsRevert() {
	msg := []byte("Revert \"Bump shop to 4.5\"\n\nThis reverts commit 1234567890abcdef1234567890abcdef12345678.\n")
	commits, ok := trailer.IsRevert(msg)
	fmt.Println(commits, ok, trailer.IsReapply(msg))
	// Output: [1234567890abcdef1234567890abcdef12345678] true false
}
