// Record plays scenarios on a real Argo CD and writes what a watch on its
// Applications delivers, as recordings that `navwatchd replay` judges.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	home, _ := os.UserHomeDir()
	bin := flag.String("bin", filepath.Join(home, ".cache/nav-watchdog-e2e/bin"), "folder of the parts (build.sh prints it)")
	dir := flag.String("dir", filepath.Join(os.TempDir(), "nav-e2e"), "folder of the cluster; made anew")
	out := flag.String("out", ".", "folder of the recordings")
	only := flag.String("run", ".", "pattern of the scenarios")
	jobs := flag.Int("jobs", 8, "scenarios at once")
	base := flag.Int("port", 23790, "first TCP port")
	list := flag.Bool("list", false, "name the scenarios and end")
	controller := flag.String("controller-args", "", "further flags of the application controller, separated by blanks")
	suffix := flag.String("suffix", "", "put behind the names of the scenarios")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	var picked []scenario
	for _, s := range scenarios() {
		if pattern.MatchString(s.name) {
			picked = append(picked, s)
			if *list {
				fmt.Println(s.name)
			}
		}
	}
	if *list {
		return nil
	}
	c, err := cluster.Start(ctx, cluster.Options{Bin: *bin, Dir: *dir, Base: *base, ControllerArgs: strings.Fields(*controller)})
	if err != nil {
		return err
	}
	defer c.Stop()
	r := runner{c: c, dir: filepath.Join(*dir, "repositories"), out: *out, suffix: *suffix}
	for _, d := range []string{r.dir, r.out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	r.together(ctx, picked, *jobs)
	for _, s := range picked { // what disturbs others, one at a time
		if s.apart {
			r.play(ctx, s)
		}
	}
	return r.failed()
}

type runner struct {
	c           *cluster.Cluster
	dir, out    string
	suffix      string
	mu          sync.Mutex
	failedNames []string
}

// together plays what disturbs nobody.
func (r *runner) together(ctx context.Context, all []scenario, jobs int) {
	slots := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	for _, s := range all {
		if s.apart {
			continue
		}
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			r.play(ctx, s)
		}()
	}
	wg.Wait()
}

func (r *runner) play(ctx context.Context, s scenario) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	s.name += r.suffix
	fmt.Println("recording", s.name)
	if err := r.record(ctx, s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
		r.mu.Lock()
		r.failedNames = append(r.failedNames, s.name)
		r.mu.Unlock()
		return
	}
	fmt.Println("recorded", s.name)
}

func (r *runner) failed() error {
	if len(r.failedNames) > 0 {
		return fmt.Errorf("not recorded: %s", strings.Join(r.failedNames, ", "))
	}
	return nil
}
